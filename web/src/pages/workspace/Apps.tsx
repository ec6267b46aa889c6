/** Apps of an agent as buttons: in the browser, in a terminal, or in programs on the visitor's machine. */

import { Link } from "@tanstack/react-router";
import { Code, ExternalLink, TerminalSquare } from "lucide-react";
import type { Workspace, WorkspaceAgent, WorkspaceApp } from "@/api/types";
import { useT } from "@/i18n";
import { appLink, vscodeLink } from "@/lib/links";
import { Button } from "@/ui/Button";

export function AppButton(props: { workspace: Workspace; agent: WorkspaceAgent; app: WorkspaceApp }) {
  const t = useT();
  const { workspace, agent, app } = props;
  const name = app.display_name || app.slug;
  const health = app.health === "healthy" ? "" : t.workspace.appHealth[app.health];
  const inside = (
    <>
      {name}
      {health && <span className="muted small">{health}</span>}
    </>
  );
  if (app.command) {
    return (
      <Link
        className="button"
        to="/@{$owner}/$workspace/terminal"
        params={{ owner: workspace.owner_name, workspace: `${workspace.name}.${agent.name}` }}
        search={{ command: app.command }}
        target="_blank"
      >
        <TerminalSquare size={14} aria-hidden />
        {inside}
      </Link>
    );
  }
  const href = appLink(workspace, agent, app);
  if (!href) return <Button why={t.workspace.appSubdomain}>{name}</Button>;
  return (
    <a className="button" href={href} target="_blank" rel="noreferrer">
      {inside}
      <ExternalLink size={14} aria-hidden />
    </a>
  );
}

/** Editors on the visitor's machine, as the template shows them. */
export function Editors({ workspace, agent }: { workspace: Workspace; agent: WorkspaceAgent }) {
  const t = useT();
  const shows = (app: WorkspaceAgent["display_apps"][number]) => agent.display_apps.includes(app);
  return (
    <>
      {shows("vscode") && (
        <a className="button" href={vscodeLink(workspace, agent)}>
          <Code size={16} aria-hidden /> {t.actions.vscode}
        </a>
      )}
      {shows("vscode_insiders") && (
        <a className="button" href={vscodeLink(workspace, agent, "vscode-insiders")}>
          <Code size={16} aria-hidden /> {t.workspacePage.agents.insiders}
        </a>
      )}
    </>
  );
}
