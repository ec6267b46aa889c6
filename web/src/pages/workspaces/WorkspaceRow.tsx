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
import type { Ask } from "@/api/actions";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { isNeedy, type Outcome } from "@/lib/bulk";
import { type Can, canConnect, canRestart, canStart, canStop, canUpdate, isBusy } from "@/lib/can";
import { vscodeLink } from "@/lib/links";
import { agentsOf } from "@/lib/status";
import { Button, ButtonLink } from "@/ui/Button";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { ErrorNote } from "@/ui/Notes";
import { Badge, WorkspaceState } from "@/ui/Status";
import { Schedule } from "../Schedule";
import type { Doing, OnAct, OnFavor } from "./useRowActions";
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
  /** The action on it that is on its way, or that has failed. */
  doing: Doing | undefined;
  /** How the last action on several went for it. */
  outcome: Outcome | undefined;
  /** Whether it has several lines, as on a narrow screen. */
  narrow: boolean;
  onChoose: (id: string, on: boolean, shift: boolean) => void;
  onAct: OnAct;
  onFavor: OnFavor;
  onAsk: (ask: Ask) => void;
  /** Is told of the element, in a list that is drawn in parts. */
  measure: Measure | undefined;
}

const reachableAgent = (workspace: Workspace) =>
  canConnect(workspace) === true ? agentsOf(workspace)[0] : undefined;

type MenuProps = Pick<Props, "workspace" | "me" | "onAct" | "onFavor">;

/** What stands in the menu of a row. */
function Entries({ workspace, me, onAct, onFavor }: MenuProps) {
  const t = useT();
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const agent = reachableAgent(workspace);
  return (
    <>
      <MenuItem icon={RotateCw} why={why(canRestart(workspace))} onSelect={() => onAct(workspace, "restart")}>
        {t.actions.restart}
      </MenuItem>
      <MenuItem icon={RefreshCw} why={why(canUpdate(workspace))} onSelect={() => onAct(workspace, "update")}>
        {t.actions.update}
      </MenuItem>
      <MenuLine />
      {agent?.display_apps.includes("vscode") && (
        <MenuItem icon={Code} onSelect={() => window.location.assign(vscodeLink(workspace, agent))}>
          {t.actions.vscode}
        </MenuItem>
      )}
      {me === workspace.owner_id && (
        <MenuItem
          icon={workspace.favorite ? StarOff : Star}
          onSelect={() => onFavor(workspace, !workspace.favorite)}
        >
          {workspace.favorite ? t.actions.unfavor : t.actions.favor}
        </MenuItem>
      )}
    </>
  );
}

function Row(props: Props) {
  const { workspace, me, index, total, chosen, stage, doing, outcome, narrow } = props;
  const { onChoose, onAct, onFavor, onAsk, measure } = props;
  const t = useT();
  const params = { owner: workspace.owner_name, workspace: workspace.name };
  const mine = me === workspace.owner_id;
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const running = workspace.latest_build.transition === "start" && !isBusy(workspace);
  const going = doing === "going";
  const failed = outcome?.kind === "failed" ? outcome : going ? undefined : doing;
  // On a wide screen a row has one line, unless it has to say more; watching the size of each would slow scrolling down.
  const measured = useRef(false);
  measured.current ||= narrow || outcome !== undefined || failed !== undefined;
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
          {reachableAgent(workspace) && (
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
              busy={going}
              onClick={() => onAct(workspace, "stop")}
              aria-label={t.actions.of(t.actions.stop, workspace.name)}
            >
              {t.actions.stop}
            </Button>
          ) : (
            <Button
              icon={CirclePlay}
              why={why(canStart(workspace))}
              busy={going}
              onClick={() => onAct(workspace, "start")}
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
            <Entries workspace={workspace} me={me} onAct={onAct} onFavor={onFavor} />
          </Menu>
        </div>
        {outcome?.kind === "skipped" && (workspace.outdated || !isNeedy(outcome)) && (
          <p className="row-error muted">
            {t.actions.of(t.workspaces.bulk.skipped, t.why[outcome.why])}
            {isNeedy(outcome) && (
              <Button onClick={() => onAsk({ workspace, wanted: "active" })}>{t.workspaces.bulk.give}</Button>
            )}
          </p>
        )}
        {failed && (
          <div className="row-error">
            <ErrorNote error={failed.error} />
          </div>
        )}
      </div>
    </li>
  );
}

/** Drawn anew only when something of it differs. */
export const WorkspaceRow = memo(Row);
