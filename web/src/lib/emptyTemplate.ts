/** What a template begins with when it is written from nothing. */

import { newSource, type Sources, sorted } from "./sources";

const MAIN = `terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}

data "coder_workspace" "me" {}

data "coder_workspace_owner" "me" {}

data "coder_provisioner" "me" {}

# The agent runs in the workspace. What starts it gets its token and its init script:
# coder_agent.main.token and coder_agent.main.init_script.
resource "coder_agent" "main" {
  arch = data.coder_provisioner.me.arch
  os   = "linux"
}

# Add what a workspace consists of, a machine or a container, and let it run the agent's init script. With
# count = data.coder_workspace.me.start_count it is there only while the workspace runs.
`;

const README = `# Template

What workspaces of this template are made of, and what one should know before using it.
`;

const encoder = new TextEncoder();

export const emptyTemplate = (): Sources =>
  sorted([newSource("main.tf", encoder.encode(MAIN)), newSource("README.md", encoder.encode(README))]);
