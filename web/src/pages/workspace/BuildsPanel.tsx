/** All builds, newest first; and one of them with its timings. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import type { Workspace, WorkspaceBuild } from "@/api/types";
import { BUILDS_PAGE, buildsPageQuery } from "@/api/workspaceQueries";
import { useT } from "@/i18n";
import type { Permissions } from "@/lib/can";
import type { Tone } from "@/lib/status";
import { workspaceRoute } from "@/routes/workspaces";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Duration, Time } from "@/ui/Time";
import { BuildPage } from "./BuildPage";
import { useLatest } from "./useLatest";

export const JOB_TONES: Record<WorkspaceBuild["job"]["status"], Tone> = {
  pending: "waiting",
  running: "busy",
  succeeded: "running",
  canceling: "busy",
  canceled: "stopped",
  failed: "failed",
  unknown: "stopped",
};

function Builds({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const words = t.workspacePage.builds;
  const params = workspaceRoute.useParams();
  const navigate = workspaceRoute.useNavigate();
  const { page = 1 } = workspaceRoute.useSearch();
  const { data, error, refetch } = useQuery(buildsPageQuery(workspace.id, page));
  // The newest build is watched; the list is read again when there is a newer one.
  useLatest(workspace, () => void refetch());
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={5} />;
  const columns = t.workspace.buildColumns;
  const { latest_build: latest } = workspace;
  const rows = data.map((build) => (build.id === latest.id ? latest : build));
  return (
    <div className="builds">
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
                search={{ panel: "builds", build: build.build_number }}
              >
                {words.number(build.build_number)}
              </Link>
            ),
          },
          { title: columns.action, cell: (build) => t.transition[build.transition] },
          {
            title: columns.status,
            cell: (build) => <Badge tone={JOB_TONES[build.job.status]}>{t.job[build.job.status]}</Badge>,
          },
          { title: words.version, cell: (build) => build.template_version_name },
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
          {
            title: words.log,
            actions: true,
            cell: (build) => (
              <Link
                className="button button-quiet button-icon"
                aria-label={`${words.log}: ${words.number(build.build_number)}`}
                to="/@{$owner}/$workspace"
                params={params}
                search={{ panel: "log", build: build.build_number }}
              >
                <ScrollText size={16} aria-hidden />
              </Link>
            ),
          },
        ]}
      />
      <Pages
        page={page}
        size={BUILDS_PAGE}
        // Builds are numbered from 1 without a gap.
        count={latest.build_number}
        onGo={(next) => void navigate({ search: { panel: "builds", page: next } })}
      />
    </div>
  );
}

interface Props {
  workspace: Workspace;
  may: Permissions | undefined;
  onVersion: (id: string) => void;
}

export function BuildsPanel({ workspace, may, onVersion }: Props) {
  const { build } = workspaceRoute.useSearch();
  if (build === undefined) return <Builds workspace={workspace} />;
  return <BuildPage key={build} workspace={workspace} may={may} number={build} onVersion={onVersion} />;
}
