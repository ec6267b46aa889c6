/** All builds, newest first. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { buildsQuery } from "@/api/queries";
import type { Workspace, WorkspaceBuild } from "@/api/types";
import { useT } from "@/i18n";
import type { Tone } from "@/lib/status";
import { workspaceRoute } from "@/routes/workspaces";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Duration, Time } from "@/ui/Time";

const TONES: Record<WorkspaceBuild["job"]["status"], Tone> = {
  pending: "waiting",
  running: "busy",
  succeeded: "running",
  canceling: "busy",
  canceled: "stopped",
  failed: "failed",
  unknown: "stopped",
};

export function BuildsPanel({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const params = workspaceRoute.useParams();
  const { data, error, refetch } = useQuery(buildsQuery(workspace.id));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={5} />;
  const columns = t.workspace.buildColumns;
  // The newest build is watched; the list is read once.
  const rows = data.map((build) => (build.id === workspace.latest_build.id ? workspace.latest_build : build));
  return (
    <Table
      label={t.workspace.panels.builds}
      rows={rows}
      rowKey={(build) => build.id}
      columns={[
        {
          title: columns.build,
          cell: (build) => (
            <Link
              to="/@{$owner}/$workspace"
              params={params}
              search={{ panel: "log", build: build.build_number }}
            >
              {t.workspace.buildNumber(build.build_number)}
            </Link>
          ),
        },
        { title: columns.action, cell: (build) => t.transition[build.transition] },
        {
          title: columns.status,
          cell: (build) => <Badge tone={TONES[build.job.status]}>{t.job[build.job.status]}</Badge>,
        },
        {
          title: columns.by,
          cell: (build) => t.workspace.builtBy(build.initiator_name, t.reason[build.reason]),
        },
        { title: columns.when, cell: (build) => <Time at={build.created_at} /> },
        {
          title: columns.took,
          cell: (build) =>
            build.job.started_at && <Duration from={build.job.started_at} to={build.job.completed_at} />,
        },
      ]}
    />
  );
}
