/** One workspace of the list. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  CirclePlay,
  CircleStop,
  Code,
  Ellipsis,
  RefreshCw,
  RotateCw,
  ScrollText,
  Star,
  StarOff,
  Terminal,
} from "lucide-react";
import { useAction, useFavorite } from "@/api/actions";
import { meQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { type Can, canConnect, canRestart, canStart, canStop, canUpdate, isBusy } from "@/lib/can";
import { vscodeLink } from "@/lib/links";
import { agentsOf } from "@/lib/status";
import { Button, ButtonLink } from "@/ui/Button";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { ErrorNote } from "@/ui/Notes";
import { Badge, WorkspaceState } from "@/ui/Status";
import { Schedule } from "../Schedule";

export function WorkspaceRow({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const { data: me } = useQuery(meQuery);
  const action = useAction(workspace);
  const favorite = useFavorite(workspace);
  const params = { owner: workspace.owner_name, workspace: workspace.name };
  const mine = me?.id === workspace.owner_id;
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const running = workspace.latest_build.transition === "start" && !isBusy(workspace);
  const agent = agentsOf(workspace)[0];
  const reachable = canConnect(workspace) === true && agent;
  return (
    <li className="row" data-workspace={workspace.name}>
      <div className="row-name">
        <Link to="/@{$owner}/$workspace" params={params} className="cut">
          {!mine && <span className="muted">{workspace.owner_name}/</span>}
          {workspace.name}
        </Link>
        {workspace.favorite && <Star size={14} className="star" aria-label={t.workspaces.favorite} />}
      </div>
      <div className="row-state">
        <WorkspaceState workspace={workspace} />
      </div>
      <div className="row-template cut muted">
        {workspace.template_display_name || workspace.template_name}
      </div>
      <div className="row-schedule muted">
        <Schedule workspace={workspace} />
        {workspace.outdated && <Badge tone="outdated">{t.status.outdated}</Badge>}
      </div>
      <div className="row-actions">
        {reachable && (
          <ButtonLink
            to="/@{$owner}/$workspace"
            params={params}
            search={{ panel: "terminal" }}
            look="quiet"
            icon={Terminal}
            label={t.actions.of(t.actions.terminal, workspace.name)}
          />
        )}
        {isBusy(workspace) ? (
          <ButtonLink
            to="/@{$owner}/$workspace"
            params={params}
            search={{ panel: "log" }}
            icon={ScrollText}
            text={t.workspace.panels.log}
          />
        ) : running ? (
          <Button
            icon={CircleStop}
            why={why(canStop(workspace))}
            busy={action.isPending}
            onClick={() => action.mutate("stop")}
            aria-label={t.actions.of(t.actions.stop, workspace.name)}
          >
            {t.actions.stop}
          </Button>
        ) : (
          <Button
            icon={CirclePlay}
            why={why(canStart(workspace))}
            busy={action.isPending}
            onClick={() => action.mutate("start")}
            aria-label={t.actions.of(t.actions.start, workspace.name)}
          >
            {t.actions.start}
          </Button>
        )}
        <Menu
          trigger={
            <Button look="quiet" icon={Ellipsis} aria-label={t.actions.of(t.common.more, workspace.name)} />
          }
        >
          <MenuItem
            icon={RotateCw}
            why={why(canRestart(workspace))}
            onSelect={() => action.mutate("restart")}
          >
            {t.actions.restart}
          </MenuItem>
          <MenuItem icon={RefreshCw} why={why(canUpdate(workspace))} onSelect={() => action.mutate("update")}>
            {t.actions.update}
          </MenuItem>
          <MenuLine />
          {reachable && agent.display_apps.includes("vscode") && (
            <MenuItem icon={Code} onSelect={() => window.location.assign(vscodeLink(workspace, agent))}>
              {t.actions.vscode}
            </MenuItem>
          )}
          {mine && (
            <MenuItem
              icon={workspace.favorite ? StarOff : Star}
              onSelect={() => favorite.mutate(!workspace.favorite)}
            >
              {workspace.favorite ? t.actions.unfavor : t.actions.favor}
            </MenuItem>
          )}
        </Menu>
      </div>
      {(action.error ?? favorite.error) && (
        <div className="row-error">
          <ErrorNote error={action.error ?? favorite.error} />
        </div>
      )}
    </li>
  );
}
