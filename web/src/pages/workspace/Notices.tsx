/** What one should know before anything else: a failure with its reason, sleep, a newer version, whose it is. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleX, Eye, Moon, RefreshCw } from "lucide-react";
import { useState } from "react";
import { builds, workspaces } from "@/api/endpoints";
import { meQuery, putWorkspace } from "@/api/queries";
import type { TemplateVersion, Workspace } from "@/api/types";
import { templateVersionsQuery } from "@/api/workspaceQueries";
import { useT } from "@/i18n";
import { canUpdate, isBusy, type Permissions } from "@/lib/can";
import { versionsBetween } from "@/lib/update";
import { Button } from "@/ui/Button";
import { ErrorNote, Note } from "@/ui/Notes";
import { Time } from "@/ui/Time";

interface Props {
  workspace: Workspace;
  may: Permissions | undefined;
  onUpdate: () => void;
}

function Failed({ workspace, may }: Props) {
  const t = useT();
  const client = useQueryClient();
  const { latest_build: build } = workspace;
  const again = useMutation({
    mutationFn: () =>
      builds.create(workspace.id, {
        transition: build.transition,
        ...(build.transition === "start" ? { template_version_id: build.template_version_id } : {}),
      }),
    onSuccess: (latest_build) => putWorkspace(client, { ...workspace, latest_build }),
  });
  const allowed = { start: may?.start, stop: may?.stop, delete: may?.delete }[build.transition];
  return (
    <>
      <Note icon={CircleX} tone="failed">
        <p className="note-title">{t.workspace.failedTitle}</p>
        {build.job.error && <p className="mono">{build.job.error}</p>}
        <p>{t.workspace.failedNext}</p>
        <Button
          busy={again.isPending}
          why={allowed === false ? t.why.notAllowed : undefined}
          onClick={() => again.mutate()}
        >
          {t.workspacePage.retry}
        </Button>
      </Note>
      {again.error && <ErrorNote error={again.error} />}
    </>
  );
}

function Dormant({ workspace, may }: Props) {
  const t = useT();
  const client = useQueryClient();
  const wake = useMutation({
    mutationFn: () => workspaces.setDormant(workspace.id, false),
    onSuccess: () => {
      putWorkspace(client, { ...workspace, dormant_at: null, deleting_at: null });
      return client.invalidateQueries({ queryKey: ["workspace", workspace.owner_name, workspace.name] });
    },
  });
  return (
    <>
      <Note icon={Moon} tone="waiting">
        <p className="note-title">{t.workspacePage.dormantTitle}</p>
        <p>{t.workspacePage.dormantText}</p>
        {workspace.deleting_at && (
          <p>
            <Time at={workspace.deleting_at} say={t.workspacePage.dormantDeleted} />
          </p>
        )}
        <Button
          busy={wake.isPending}
          why={may?.update === false ? t.why.notAllowed : undefined}
          onClick={() => wake.mutate()}
        >
          {t.workspacePage.wake}
        </Button>
      </Note>
      {wake.error && <ErrorNote error={wake.error} />}
    </>
  );
}

interface ChangeProps {
  template: string;
  version: TemplateVersion;
  active: boolean;
}

function Change({ template, version, active }: ChangeProps) {
  const t = useT();
  const words = t.workspacePage;
  return (
    <li>
      <p>
        <Link
          to="/templates/$template/versions/$version"
          params={{ template, version: version.name }}
          search={{ panel: "changes" }}
        >
          <strong>{version.name}</strong>
        </Link>
        {active && <span className="muted"> ({words.activeVersion})</span>}{" "}
        <span className="muted">
          {words.versionBy(version.created_by.username)}, <Time at={version.created_at} />
        </span>
      </p>
      <p className={version.message ? "" : "muted"}>{version.message || words.noMessage}</p>
    </li>
  );
}

function Outdated({ workspace, may, onUpdate }: Props) {
  const t = useT();
  const words = t.workspacePage;
  const [open, setOpen] = useState(false);
  // Whoever may not see the template's versions is told only that there is one.
  const { data: versions } = useQuery(templateVersionsQuery(workspace.template_id));
  const { template_active_version_id: active, latest_build: build } = workspace;
  const changes = versions ? versionsBetween(versions, build.template_version_id, active) : [];
  const created = (id: string) => Date.parse(versions?.find((each) => each.id === id)?.created_at ?? "");
  const older = created(active) < created(build.template_version_id);
  const to = versions?.find((version) => version.id === active);
  const can = canUpdate(workspace, may);
  return (
    <Note icon={RefreshCw} tone="outdated">
      <p>
        <span className="note-title">{older ? words.outdatedRolledBack : words.outdatedTitle}</span>{" "}
        {to && <span>{words.outdatedFrom(build.template_version_name, to.name)}</span>}
      </p>
      {open && (
        <ul className="changes">
          {changes.map((version) => (
            <Change
              key={version.id}
              template={workspace.template_name}
              version={version}
              active={version.id === active}
            />
          ))}
        </ul>
      )}
      <span className="note-actions">
        <Button why={can === true ? undefined : t.why[can]} onClick={onUpdate}>
          {t.actions.update}
        </Button>
        {changes.length > 0 && (
          <Button look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {words.outdatedChanges(changes.length)}
          </Button>
        )}
      </span>
    </Note>
  );
}

export function Notices(props: Props) {
  const t = useT();
  const { workspace, may } = props;
  const { data: me } = useQuery(meQuery);
  const owner = workspace.owner_name;
  return (
    <>
      {me && me.id !== workspace.owner_id && (
        <Note icon={Eye}>
          <p>{may && !may.update ? t.workspacePage.lookOnly(owner) : t.workspacePage.otherOwner(owner)}</p>
        </Note>
      )}
      {workspace.latest_build.status === "failed" && <Failed {...props} />}
      {workspace.dormant_at && <Dormant {...props} />}
      {workspace.outdated && !isBusy(workspace) && <Outdated {...props} />}
    </>
  );
}
