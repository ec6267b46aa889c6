/** One workspace of the list. */

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
import { memo, useRef } from "react";
import { useAction, useFavorite } from "@/api/actions";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import type { Outcome } from "@/lib/bulk";
import { type Can, canConnect, canRestart, canStart, canStop, canUpdate, isBusy } from "@/lib/can";
import { vscodeLink } from "@/lib/links";
import { useNarrow } from "@/lib/media";
import { agentsOf } from "@/lib/status";
import { Button, ButtonLink } from "@/ui/Button";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { ErrorNote } from "@/ui/Notes";
import { Badge, WorkspaceState } from "@/ui/Status";
import { Schedule } from "../Schedule";
import type { Measure } from "./Windowed";

interface Props {
  workspace: Workspace;
  /** The id of whoever looks at it. */
  me: string;
  /** Where it stands, of how many. */
  index: number;
  total: number;
  chosen: boolean;
  /** Where its build is, as the log names it. */
  stage: string | undefined;
  /** How the last action on several went for it. */
  outcome: Outcome | undefined;
  onChoose: (id: string, on: boolean, shift: boolean) => void;
  /** Is told of the element, in a list that is drawn in parts. */
  measure: Measure | undefined;
}

function Row({ workspace, me, index, total, chosen, stage, outcome, onChoose, measure }: Props) {
  const t = useT();
  const narrow = useNarrow();
  const action = useAction(workspace);
  const favorite = useFavorite(workspace);
  const params = { owner: workspace.owner_name, workspace: workspace.name };
  const mine = me === workspace.owner_id;
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const running = workspace.latest_build.transition === "start" && !isBusy(workspace);
  const agent = agentsOf(workspace)[0];
  const error = outcome?.kind === "failed" ? outcome.error : (action.error ?? favorite.error);
  const reachable = canConnect(workspace) === true && agent;
  // On a wide screen a row has one line, unless it has to say more; watching the size of each would slow scrolling down.
  const measured = useRef(false);
  measured.current ||= narrow || outcome !== undefined || Boolean(error);
  return (
    <li
      ref={measured.current ? measure : undefined}
      className="row-item"
      data-workspace={workspace.name}
      data-index={index}
      data-chosen={chosen || undefined}
      aria-posinset={index + 1}
      aria-setsize={total}
    >
      <div className="row">
        <label className="row-check">
          <input
            type="checkbox"
            checked={chosen}
            onChange={(event) =>
              onChoose(workspace.id, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)
            }
            aria-label={t.actions.of(t.workspaces.bulk.choose, workspace.name)}
          />
        </label>
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
          <Schedule workspace={workspace} stage={stage} />
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
            <MenuItem
              icon={RefreshCw}
              why={why(canUpdate(workspace))}
              onSelect={() => action.mutate("update")}
            >
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
        {outcome?.kind === "skipped" && (
          <p className="row-error muted">{t.actions.of(t.workspaces.bulk.skipped, t.why[outcome.why])}</p>
        )}
        {error !== undefined && error !== null && (
          <div className="row-error">
            <ErrorNote error={error} />
          </div>
        )}
      </div>
    </li>
  );
}

/** Drawn anew only when something of it differs. */
export const WorkspaceRow = memo(Row);
