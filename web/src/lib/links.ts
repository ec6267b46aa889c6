/** Links that leave the UI: to apps in workspaces, and to programs on the visitor's machine. */

import type { Workspace, WorkspaceAgent, WorkspaceApp } from "@/api/types";
import { urls } from "@/api/urls";

/** Opens the workspace in VS Code by the Coder extension, which asks for a session when it has none. */
export function vscodeLink(
  workspace: Workspace,
  agent: WorkspaceAgent,
  program: "vscode" | "vscode-insiders" = "vscode",
): string {
  const query = new URLSearchParams({
    owner: workspace.owner_name,
    workspace: workspace.name,
    agent: agent.name,
    url: window.location.origin,
  });
  const folder = agent.expanded_directory || agent.directory;
  if (folder) query.set("folder", folder);
  return `${program}://coder.coder-remote/open?${query}`;
}

/** Schemes that an app's address may have. Everything else could run in our page. */
const SAFE = /^(https?|vscode|vscode-insiders|cursor|windsurf|zed|jetbrains|jetbrains-gateway|ssh|rdp|vnc):/i;

/** Where an app opens; `undefined` when it cannot be opened from here. */
export function appLink(workspace: Workspace, agent: WorkspaceAgent, app: WorkspaceApp): string | undefined {
  if (app.external) return app.url && SAFE.test(app.url) ? app.url : undefined;
  if (app.subdomain) return undefined;
  return urls.app(workspace.owner_name, workspace.name, agent.name, app.slug);
}

/** The host's name in `ssh`, as `coder config-ssh` makes it. */
export function sshHost(prefix: string, workspace: Workspace, agent: WorkspaceAgent, only: boolean): string {
  return `${prefix}${workspace.name}${only ? "" : `.${agent.name}`}`;
}
