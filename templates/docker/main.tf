# A workspace that is a Docker container with a persistent home, through the docker command on the server's machine.
#
# container.sh does the work. The home volume lives as long as the workspace; the container lives from start to stop.

terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "network" {
  type        = string
  default     = "auto"
  description = "How containers reach the server: bridge (localhost in its URL becomes host.docker.internal), host (the container shares the machine's network), or auto: host when the server's URL is localhost and Docker runs on this very machine, else bridge."

  validation {
    condition     = contains(["auto", "bridge", "host"], var.network)
    error_message = "The network must be auto, bridge or host."
  }
}

data "coder_workspace" "me" {}

data "coder_workspace_owner" "me" {}

data "coder_provisioner" "me" {}

data "coder_parameter" "image" {
  name         = "image"
  display_name = "Image"
  description  = "The container image. It needs a shell, and curl or wget."
  type         = "string"
  default      = "buildpack-deps:bookworm-scm"
  mutable      = true
  icon         = "/icon/docker.svg"
  order        = 1
}

data "coder_parameter" "cpus" {
  name         = "cpus"
  display_name = "CPUs"
  description  = "How many processors the container may use; 0 means all of them."
  type         = "number"
  default      = "2"
  mutable      = true
  order        = 2

  validation {
    min = 0
    max = 128
  }
}

data "coder_parameter" "memory" {
  name         = "memory"
  display_name = "Memory (GiB)"
  description  = "How much memory the container may use; 0 means all of it."
  type         = "number"
  default      = "4"
  mutable      = true
  order        = 3

  validation {
    min = 0
    max = 1024
  }
}

locals {
  id = data.coder_workspace.me.id

  # The provider says "default" for an owner who has given no full name.
  full_name = contains(["", "default"], data.coder_workspace_owner.me.full_name) ? data.coder_workspace_owner.me.name : data.coder_workspace_owner.me.full_name
}

resource "coder_agent" "main" {
  arch = data.coder_provisioner.me.arch
  os   = "linux"

  env = {
    GIT_AUTHOR_NAME     = local.full_name
    GIT_AUTHOR_EMAIL    = data.coder_workspace_owner.me.email
    GIT_COMMITTER_NAME  = local.full_name
    GIT_COMMITTER_EMAIL = data.coder_workspace_owner.me.email
  }

  metadata {
    key          = "cpu"
    display_name = "CPU"
    script       = "coder stat cpu"
    interval     = 10
    timeout      = 2
    order        = 1
  }

  metadata {
    key          = "memory"
    display_name = "Memory"
    script       = "coder stat mem"
    interval     = 10
    timeout      = 2
    order        = 2
  }

  metadata {
    key          = "disk"
    display_name = "Home"
    script       = "coder stat disk --path \"$HOME\""
    interval     = 60
    timeout      = 2
    order        = 3
  }
}

# Stands for the home volume, which the first start makes: it stays until the workspace is deleted.
resource "terraform_data" "home" {
  input = {
    id     = local.id
    volume = "coder-${local.id}-home"
  }

  lifecycle {
    ignore_changes = [input]
  }

  provisioner "local-exec" {
    when    = destroy
    command = "sh ./container.sh remove"
    environment = {
      WORKSPACE_ID = self.input.id
      VOLUME       = self.input.volume
    }
  }
}

resource "coder_metadata" "home" {
  resource_id = terraform_data.home.id

  item {
    key   = "volume"
    value = terraform_data.home.output.volume
  }
}

# The container. Each start makes it anew, because each build has an agent of its own.
resource "terraform_data" "container" {
  count = data.coder_workspace.me.start_count
  input = {
    id     = terraform_data.home.output.id
    volume = terraform_data.home.output.volume
    image  = data.coder_parameter.image.value
  }
  triggers_replace = timestamp()

  # Apart from the start, whose output Terraform hides because of the token.
  provisioner "local-exec" {
    command = "sh ./container.sh prepare"
    environment = {
      WORKSPACE_ID = self.input.id
      VOLUME       = self.input.volume
      IMAGE        = self.input.image
    }
  }

  provisioner "local-exec" {
    command = "sh ./container.sh start"
    environment = {
      WORKSPACE_ID      = self.input.id
      VOLUME            = self.input.volume
      IMAGE             = self.input.image
      CPUS              = data.coder_parameter.cpus.value
      MEMORY            = data.coder_parameter.memory.value
      NETWORK           = var.network
      NAME              = "coder-${data.coder_workspace_owner.me.name}-${data.coder_workspace.me.name}-${substr(local.id, 0, 8)}"
      HOST_NAME         = data.coder_workspace.me.name
      INIT_SCRIPT       = coder_agent.main.init_script
      CODER_AGENT_TOKEN = coder_agent.main.token
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "sh ./container.sh stop"
    environment = {
      WORKSPACE_ID = self.input.id
      VOLUME       = self.input.volume
    }
  }
}

resource "coder_metadata" "container" {
  count       = data.coder_workspace.me.start_count
  resource_id = terraform_data.container[0].id

  item {
    key   = "image"
    value = data.coder_parameter.image.value
  }
}

# A start that was cut off may run although Terraform's state does not know it: each stop looks for itself.
resource "terraform_data" "stopped" {
  count            = 1 - data.coder_workspace.me.start_count
  input            = terraform_data.home.output
  triggers_replace = timestamp()

  provisioner "local-exec" {
    command = "sh ./container.sh stop"
    environment = {
      WORKSPACE_ID = self.input.id
      VOLUME       = self.input.volume
    }
  }
}

resource "coder_metadata" "stopped" {
  count       = 1 - data.coder_workspace.me.start_count
  resource_id = terraform_data.stopped[0].id
  hide        = true
}
