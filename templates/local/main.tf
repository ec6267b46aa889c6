# A workspace that is a tree of processes on the server's own machine: the quickest way to try things out.
#
# workspace.sh does the work. The home directory lives as long as the workspace; the processes live from start to stop.

terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "data_directory" {
  type        = string
  default     = ""
  description = "Where home directories are kept on the server's machine. Empty: ~/.local/share/coder-workspaces of the account that the server runs as."
}

data "coder_workspace" "me" {}

data "coder_workspace_owner" "me" {}

data "coder_provisioner" "me" {}

locals {
  id   = data.coder_workspace.me.id
  data = var.data_directory != "" ? var.data_directory : pathexpand("~/.local/share/coder-workspaces")

  # The id keeps two workspaces apart that had the same name at different times.
  directory = "${local.data}/${data.coder_workspace_owner.me.name}/${data.coder_workspace.me.name}-${substr(local.id, 0, 8)}"

  # The provider says "default" for an owner who has given no full name.
  full_name = contains(["", "default"], data.coder_workspace_owner.me.full_name) ? data.coder_workspace_owner.me.name : data.coder_workspace_owner.me.full_name
}

resource "coder_agent" "main" {
  arch = data.coder_provisioner.me.arch
  os   = data.coder_provisioner.me.os

  env = {
    GIT_AUTHOR_NAME     = local.full_name
    GIT_AUTHOR_EMAIL    = data.coder_workspace_owner.me.email
    GIT_COMMITTER_NAME  = local.full_name
    GIT_COMMITTER_EMAIL = data.coder_workspace_owner.me.email
  }

  metadata {
    key          = "cpu"
    display_name = "CPU"
    script       = "coder stat cpu --host"
    interval     = 10
    timeout      = 2
    order        = 1
  }

  metadata {
    key          = "memory"
    display_name = "Memory"
    script       = "coder stat mem --host"
    interval     = 10
    timeout      = 2
    order        = 2
  }

  metadata {
    key          = "disk"
    display_name = "Disk"
    script       = "coder stat disk --path \"$HOME\""
    interval     = 60
    timeout      = 2
    order        = 3
  }
}

# Stands for the home directory, which the first start makes: it stays until the workspace is deleted, and keeps its path
# when the workspace is renamed.
resource "terraform_data" "home" {
  input = {
    id        = local.id
    directory = local.directory
  }

  lifecycle {
    ignore_changes = [input]
  }

  provisioner "local-exec" {
    when    = destroy
    command = "sh ./workspace.sh remove"
    environment = {
      WORKSPACE_ID  = self.input.id
      WORKSPACE_DIR = self.input.directory
    }
  }
}

resource "coder_metadata" "home" {
  resource_id = terraform_data.home.id

  item {
    key   = "directory"
    value = "${terraform_data.home.output.directory}/home"
  }
}

# The processes. Each start makes them anew, because each build has an agent of its own.
resource "terraform_data" "workspace" {
  count            = data.coder_workspace.me.start_count
  input            = terraform_data.home.output
  triggers_replace = timestamp()

  provisioner "local-exec" {
    command = "sh ./workspace.sh start"
    environment = {
      WORKSPACE_ID      = self.input.id
      WORKSPACE_DIR     = self.input.directory
      INIT_SCRIPT       = coder_agent.main.init_script
      CODER_AGENT_TOKEN = coder_agent.main.token
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "sh ./workspace.sh stop"
    environment = {
      WORKSPACE_ID  = self.input.id
      WORKSPACE_DIR = self.input.directory
    }
  }
}

# A start that was cut off may run although Terraform's state does not know it: each stop looks for itself.
resource "terraform_data" "stopped" {
  count            = 1 - data.coder_workspace.me.start_count
  input            = terraform_data.home.output
  triggers_replace = timestamp()

  provisioner "local-exec" {
    command = "sh ./workspace.sh stop"
    environment = {
      WORKSPACE_ID  = self.input.id
      WORKSPACE_DIR = self.input.directory
    }
  }
}

resource "coder_metadata" "stopped" {
  count       = 1 - data.coder_workspace.me.start_count
  resource_id = terraform_data.stopped[0].id
  hide        = true
}
