/** Name, state, schedule and actions of a workspace. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import {
  CirclePlay,
  CircleStop,
  CircleX,
  CopyPlus,
  Ellipsis,
  GitCompareArrows,
  RefreshCw,
  RotateCw,
  Star,
  StarOff,
  Trash2,
} from "lucide-react";
import { type Action, type Ask, useAction, useFavorite } from "@/api/actions";
import { meQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import {
  type Can,
  canCancel,
  canChangeVersion,
  canDelete,
  canExtend,
  canRestart,
  canStart,
  canStop,
  canUpdate,
  isBusy,
  type Permissions,
  startsWithActive,
} from "@/lib/can";
import { stepOf } from "@/lib/steps";
import { Button } from "@/ui/Button";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";
import { ErrorNote } from "@/ui/Notes";
import { WorkspaceState } from "@/ui/Status";
import { Schedule } from "../Schedule";
import { Steps } from "./Steps";

interface Props {
  workspace: Workspace;
  may: Permissions | undefined;
  onUpdate: () => void;
  onAsk: (ask: Ask) => void;
  onChangeVersion: () => void;
  onDelete: () => void;
}

export function Header({ workspace, may, onUpdate, onAsk, onChangeVersion, onDelete }: Props) {
  const t = useT();
  const { data: me } = useQuery(meQuery);
  const mine = me?.id === workspace.owner_id;
  const navigate = useNavigate();
  const duplicate = () =>
    void navigate({
      to: "/templates/$template/workspace",
      params: { template: workspace.template_name },
      search: { duplicate: `${workspace.owner_name}/${workspace.name}` },
    });
  const action = useAction(onAsk);
  const act = (what: Action) => action.mutate({ workspace, action: what });
  const favorite = useFavorite();
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const running =
    workspace.latest_build.transition === "start" && workspace.latest_build.status === "running";
  const busy = isBusy(workspace);
  const step = stepOf(workspace);
  return (
    <header className="workspace-head">
      <div className="workspace-title">
        <h1 className="cut">
          <Link to="/workspaces">{t.workspaces.title}</Link>
          <span className="muted"> / </span>
          {workspace.name}
        </h1>
        {workspace.favorite && <Star size={16} className="star" aria-label={t.workspaces.favorite} />}
        <WorkspaceState workspace={workspace} />
        <span className="muted small workspace-schedule">
          <Schedule workspace={workspace} />
          {canExtend(workspace, may) === true && running && (
            <Button
              look="quiet"
              label={t.actions.extendHint}
              busy={action.isPending}
              onClick={() => act("extend")}
            >
              {t.actions.extend}
            </Button>
          )}
        </span>
        {step && step !== "ready" && <Steps now={step} />}
      </div>
      <div className="workspace-actions">
        {busy ? (
          <Button icon={CircleX} why={why(canCancel(workspace, may))} onClick={() => act("cancel")}>
            {t.actions.cancel}
          </Button>
        ) : running ? (
          <Button
            icon={CircleStop}
            why={why(canStop(workspace, may))}
            busy={action.isPending}
            onClick={() => act("stop")}
          >
            {t.actions.stop}
          </Button>
        ) : (
          <Button
            look="primary"
            icon={CirclePlay}
            why={why(canStart(workspace, may))}
            busy={action.isPending}
            // A start that takes another version may need values that nobody has given yet.
            onClick={() => (startsWithActive(workspace) ? onUpdate() : act("start"))}
          >
            {t.actions.start}
          </Button>
        )}
        {running && (
          <Button
            icon={RotateCw}
            why={why(canRestart(workspace, may))}
            busy={action.isPending}
            onClick={() => act("restart")}
          >
            {t.actions.restart}
          </Button>
        )}
        <Menu trigger={<Button look="quiet" icon={Ellipsis} aria-label={t.common.more} />}>
          {!running && (
            <MenuItem icon={CircleStop} why={why(canStop(workspace, may))} onSelect={() => act("stop")}>
              {t.actions.stop}
            </MenuItem>
          )}
          <MenuItem icon={RefreshCw} why={why(canUpdate(workspace, may))} onSelect={onUpdate}>
            {t.actions.update}
          </MenuItem>
          <MenuItem
            icon={GitCompareArrows}
            why={why(canChangeVersion(workspace, may))}
            onSelect={onChangeVersion}
          >
            {t.workspacePage.changeVersion}
          </MenuItem>
          <MenuLine />
          {mine && (
            <MenuItem
              icon={workspace.favorite ? StarOff : Star}
              onSelect={() => favorite.mutate({ workspace, favorite: !workspace.favorite })}
            >
              {workspace.favorite ? t.actions.unfavor : t.actions.favor}
            </MenuItem>
          )}
          <MenuItem icon={CopyPlus} onSelect={duplicate}>
            {t.workspacePage.duplicate}
          </MenuItem>
          <MenuItem icon={Trash2} why={why(canDelete(workspace, may))} onSelect={onDelete}>
            {t.workspacePage.deleteAction}
          </MenuItem>
        </Menu>
      </div>
      {(action.error ?? favorite.error) && <ErrorNote error={action.error ?? favorite.error} />}
    </header>
  );
}
