# Every kind of parameter, a preset, and a variable: what the form of a new workspace can be asked for.

terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

variable "greeting" {
  type        = string
  default     = "hello"
  description = "What a workspace says."
}

variable "password" {
  type      = string
  default   = "x"
  sensitive = true
}

data "coder_workspace" "me" {}

data "coder_parameter" "region" {
  name         = "region"
  display_name = "Region"
  description  = "Where it runs."
  default      = "eu"
  option {
    name        = "Europe"
    value       = "eu"
    description = "Near the sea"
  }
  option {
    name  = "America"
    value = "us"
  }
}

data "coder_parameter" "size" {
  name         = "size"
  display_name = "Size"
  form_type    = "dropdown"
  default      = "small"
  mutable      = true
  option {
    name  = "Small"
    value = "small"
  }
  option {
    name  = "Large"
    value = "large"
  }
}

data "coder_parameter" "tools" {
  name         = "tools"
  display_name = "Tools"
  type         = "list(string)"
  form_type    = "multi-select"
  default      = jsonencode(["git"])
  mutable      = true
  option {
    name  = "Git"
    value = "git"
  }
  option {
    name  = "Make"
    value = "make"
  }
  option {
    name  = "Vim"
    value = "vim"
  }
}

data "coder_parameter" "hosts" {
  name         = "hosts"
  display_name = "Hosts"
  type         = "list(string)"
  default      = jsonencode([])
  mutable      = true
}

data "coder_parameter" "cpu" {
  name         = "cpu"
  display_name = "CPU"
  type         = "number"
  form_type    = "slider"
  default      = 2
  mutable      = true
  validation {
    min = 1
    max = 8
  }
}

data "coder_parameter" "disk" {
  name         = "disk"
  display_name = "Disk"
  type         = "number"
  default      = 10
  mutable      = true
  validation {
    min       = 5
    max       = 50
    monotonic = "increasing"
  }
}

data "coder_parameter" "backup" {
  name         = "backup"
  display_name = "Backup"
  type         = "bool"
  default      = false
  mutable      = true
}

data "coder_parameter" "public" {
  name         = "public"
  display_name = "Public"
  type         = "bool"
  form_type    = "switch"
  default      = false
  mutable      = true
}

data "coder_parameter" "project" {
  name         = "project"
  display_name = "Project"
  description  = "It has no default."
}

data "coder_parameter" "notes" {
  name         = "notes"
  display_name = "Notes"
  form_type    = "textarea"
  default      = ""
  mutable      = true
}

data "coder_parameter" "reset" {
  name         = "reset"
  display_name = "Reset"
  type         = "bool"
  default      = false
  mutable      = true
  ephemeral    = true
}

data "coder_workspace_preset" "big" {
  name = "Big"
  parameters = {
    size = "large"
    cpu  = "8"
  }
}

resource "terraform_data" "home" {
  input = "${var.greeting} ${data.coder_parameter.region.value} ${data.coder_parameter.project.value}"
}
