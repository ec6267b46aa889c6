/** One build: who asked for it and why, how it went, and where its time went. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, CircleX, Download, GitCompareArrows, RotateCcw, ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import { builds } from "@/api/endpoints";
import { isStatus } from "@/api/errors";
import { putWorkspace } from "@/api/queries";
import type { Workspace, WorkspaceBuild } from "@/api/types";
import { buildByNumberQuery, timingsQuery } from "@/api/workspaceQueries";
import { useT } from "@/i18n";
import { plainText } from "@/lib/ansi";
import { type Can, canCancel, canDelete, canStart, canStop, isBusy, type Permissions } from "@/lib/can";
import { saveText } from "@/lib/download";
import { stagesOf } from "@/lib/timings";
import { workspaceRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Duration, Time, useNow } from "@/ui/Time";
import { Timeline } from "@/ui/Timeline";
import { JOB_TONES } from "./BuildsPanel";

const SECOND_MS = 1000;
const LONG_MS = 2 ** 30;

export function BuildTimings({ build }: { build: WorkspaceBuild }) {
  const t = useT();
  const words = t.workspacePage;
  const { data, error, refetch } = useQuery(timingsQuery(build));
  const waits = !build.job.started_at && !build.job.completed_at;
  const now = useNow(() => (waits ? SECOND_MS : LONG_MS));
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={5} />;
  const stages = stagesOf(build, data, now);
  return (
    <>
      <Timeline
        label={words.builds.timings}
        rows={stages.map((stage) => ({
          ...stage,
          key: stage.stage,
          name: words.stages[stage.stage],
          waits: stage.stage === "queued",
        }))}
      />
      {stages.length === 1 && <p className="muted small">{words.builds.noTimings}</p>}
    </>
  );
}

interface Props {
  workspace: Workspace;
  may: Permissions | undefined;
  onVersion: (id: string) => void;
}

function Actions({ workspace, may, build, onVersion }: Props & { build: WorkspaceBuild }) {
  const t = useT();
  const words = t.workspacePage.builds;
  const params = workspaceRoute.useParams();
  const navigate = workspaceRoute.useNavigate();
  const client = useQueryClient();
  const latest = build.id === workspace.latest_build.id;
  const download = useMutation({
    mutationFn: () => builds.log(build.id),
    onSuccess: (lines) => {
      const text = lines.map((line) => `${line.created_at} [${line.stage}] ${plainText(line.output)}\n`);
      saveText(text.join(""), `${workspace.name}-${words.number(build.build_number)}`);
    },
  });
  const cancel = useMutation({
    mutationFn: () => builds.cancel(build.id),
    onSuccess: async () => putWorkspace(client, { ...workspace, latest_build: await builds.get(build.id) }),
  });
  const again = useMutation({
    mutationFn: () => builds.create(workspace.id, { transition: build.transition }),
    onSuccess: (latest_build) => {
      putWorkspace(client, { ...workspace, latest_build });
      void client.invalidateQueries({ queryKey: ["builds", workspace.id] });
      // The log while it builds, and the terminal after it.
      void navigate({ search: {} });
    },
  });
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  // Starting what runs and stopping what is stopped is what one does to mend it.
  const allowed = (): Can => {
    if (isBusy(workspace)) return "building";
    const can = { start: canStart, stop: canStop, delete: canDelete }[build.transition](workspace, may);
    return can === "running" || can === "stopped" ? true : can;
  };
  const pinned =
    workspace.template_require_active_version &&
    !may?.manage &&
    build.template_version_id !== workspace.template_active_version_id;
  const error = download.error ?? cancel.error ?? again.error;
  return (
    <>
      <div className="build-actions">
        <Link
          className="button"
          to="/@{$owner}/$workspace"
          params={params}
          search={{ panel: "log", build: build.build_number }}
        >
          <ScrollText size={16} aria-hidden /> {words.log}
        </Link>
        <Button icon={Download} busy={download.isPending} onClick={() => download.mutate()}>
          {words.download}
        </Button>
        {latest && isBusy(workspace) && (
          <Button
            icon={CircleX}
            why={why(canCancel(workspace, may))}
            busy={cancel.isPending}
            onClick={() => cancel.mutate()}
          >
            {words.cancel}
          </Button>
        )}
        {latest && !isBusy(workspace) && build.transition !== "delete" && (
          <Button icon={RotateCcw} why={why(allowed())} busy={again.isPending} onClick={() => again.mutate()}>
            {words.again}
          </Button>
        )}
        {build.template_version_id !== workspace.latest_build.template_version_id && (
          <Button
            icon={GitCompareArrows}
            why={
              pinned
                ? words.pinned
                : may?.start === false
                  ? t.why.notAllowed
                  : workspace.dormant_at
                    ? t.why.dormant
                    : isBusy(workspace)
                      ? t.why.building
                      : undefined
            }
            onClick={() => onVersion(build.template_version_id)}
          >
            {words.withVersion}
          </Button>
        )}
      </div>
      {error && <ErrorNote error={error} />}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Facts({ build }: { build: WorkspaceBuild }) {
  const t = useT();
  const words = t.workspacePage.builds;
  const { job } = build;
  return (
    <dl className="build-facts">
      <Fact name={words.transition}>{t.transition[build.transition]}</Fact>
      <Fact name={words.version}>{build.template_version_name}</Fact>
      <Fact name={words.who}>{build.initiator_name}</Fact>
      <Fact name={words.why}>{t.reason[build.reason]}</Fact>
      <Fact name={words.created}>
        <Time at={build.created_at} />
      </Fact>
      <Fact name={words.took}>
        {job.started_at && <Duration from={job.started_at} to={job.completed_at} />}
      </Fact>
      <Fact name={words.worker}>{job.worker_name}</Fact>
      <Fact name={words.cost}>{build.daily_cost > 0 && words.credits(build.daily_cost)}</Fact>
    </dl>
  );
}

export function BuildPage({ number, ...props }: Props & { number: number }) {
  const t = useT();
  const words = t.workspacePage.builds;
  const params = workspaceRoute.useParams();
  const { workspace } = props;
  const { latest_build: latest } = workspace;
  const isLatest = number === latest.build_number;
  const other = useQuery({
    ...buildByNumberQuery(workspace.owner_name, workspace.name, number),
    enabled: !isLatest,
  });
  const build = isLatest ? latest : other.data;
  return (
    <div className="panel-text panel-wide">
      <p>
        <Link className="back" to="/@{$owner}/$workspace" params={params} search={{ panel: "builds" }}>
          <ArrowLeft size={14} aria-hidden /> {words.all}
        </Link>
      </p>
      <div className="section-head">
        <h2>{words.number(number)}</h2>
        {build && <Badge tone={JOB_TONES[build.job.status]}>{t.job[build.job.status]}</Badge>}
      </div>
      {build ? (
        <>
          {build.job.error && (
            <Note icon={CircleX} tone="failed">
              <p className="mono">{build.job.error}</p>
            </Note>
          )}
          <Actions {...props} build={build} />
          <Facts build={build} />
          <BuildTimings build={build} />
        </>
      ) : other.error ? (
        <ErrorNote
          error={other.error}
          title={isStatus(other.error, 404) ? words.gone : undefined}
          onRetry={() => void other.refetch()}
        />
      ) : (
        <Skeleton rows={6} />
      )}
    </div>
  );
}
