/** The provisioners of an organization: which there are, what they do, and when they were last heard of. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Cpu } from "lucide-react";
import type { ReactNode } from "react";
import { buildInfoQuery, provisionersQuery } from "@/api/adminQueries";
import { sitePermissionsQuery } from "@/api/queries";
import type { Organization, ProvisionerDaemon, ProvisionerDaemonJob } from "@/api/types";
import { useT } from "@/i18n";
import { useAdminI18n } from "@/i18n/admin";
import type { Tone } from "@/lib/status";
import { isNever } from "@/lib/time";
import { useTitle } from "@/lib/title";
import { release } from "@/lib/version";
import { provisionersRoute } from "@/routes/admin";
import { CopyButton } from "@/ui/CopyButton";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { JobState, Tags } from "./jobParts";
import { InOrganization } from "./organization";

const TONES = { idle: "running", busy: "busy", offline: "failed" } as const satisfies Record<string, Tone>;
const START_COMMAND = "coder server --provisioner-daemons 3";

function Job({ job, organization }: { job: ProvisionerDaemonJob | null; organization: Organization }) {
  const t = useT();
  const { data: may } = useQuery(sitePermissionsQuery);
  if (!job) return <span className="muted">{t.common.none}</span>;
  const name = job.template_display_name || job.template_name || job.id.slice(0, 8);
  return (
    <span className="badges">
      {may?.readJobs ? (
        <Link
          to="/admin/jobs"
          search={{ job: job.id, ...(organization.is_default ? {} : { organization: organization.name }) }}
        >
          {name}
        </Link>
      ) : (
        name
      )}
      <JobState status={job.status} />
    </span>
  );
}

function Version({ daemon }: { daemon: ProvisionerDaemon }) {
  const { t } = useAdminI18n();
  const { data: server } = useQuery(buildInfoQuery);
  const differs = server && release(server.version) !== release(daemon.version);
  return (
    <span className="two">
      <span>{daemon.version}</span>
      <span className="muted small">{t.admin.provisioners.apiVersion(daemon.api_version)}</span>
      {differs && <Badge tone="waiting">{t.admin.provisioners.differs}</Badge>}
    </span>
  );
}

function List({ organization, pick }: { organization: Organization; pick: ReactNode }) {
  const { t } = useAdminI18n();
  const { data, error, isPending, refetch } = useQuery(provisionersQuery(organization.id));
  const columns = t.admin.provisioners.columns;
  const online = data?.filter((daemon) => daemon.status !== "offline").length ?? 0;
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.provisioners}</h1>
      </div>
      <p className="lead">{t.admin.provisioners.lead}</p>
      {pick && <div className="tools">{pick}</div>}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={4} />}
      {data?.length === 0 && (
        <Empty icon={Cpu} title={t.admin.provisioners.emptyTitle}>
          <p>{t.admin.provisioners.emptyText}</p>
          <p className="secret-once">
            <code>{START_COMMAND}</code>
            <CopyButton text={() => START_COMMAND} />
          </p>
        </Empty>
      )}
      {data && data.length > 0 && (
        <>
          <div className="panel-box cards">
            <Table
              label={t.nav.adminPages.provisioners}
              rows={data}
              rowKey={(daemon) => daemon.id}
              columns={[
                {
                  title: columns.name,
                  cell: (daemon) => (
                    <span className="two">
                      <strong>{daemon.name}</strong>
                      {daemon.key_name && (
                        <span className="muted small">{t.admin.provisioners.key(daemon.key_name)}</span>
                      )}
                    </span>
                  ),
                },
                {
                  title: columns.status,
                  cell: ({ status }) =>
                    status && <Badge tone={TONES[status]}>{t.admin.provisioners.status[status]}</Badge>,
                },
                { title: columns.version, cell: (daemon) => <Version daemon={daemon} /> },
                { title: columns.tags, cell: (daemon) => <Tags tags={daemon.tags} /> },
                {
                  title: columns.current,
                  cell: (daemon) => <Job job={daemon.current_job} organization={organization} />,
                },
                {
                  title: columns.previous,
                  cell: (daemon) => <Job job={daemon.previous_job} organization={organization} />,
                },
                {
                  title: columns.seen,
                  cell: ({ last_seen_at }) =>
                    last_seen_at && !isNever(last_seen_at) ? (
                      <Time at={last_seen_at} />
                    ) : (
                      <span className="muted">{t.admin.users.never}</span>
                    ),
                },
              ]}
            />
          </div>
          <p className="list-note">{t.admin.provisioners.online(online, data.length)}</p>
        </>
      )}
    </main>
  );
}

export function Provisioners() {
  const { t } = useAdminI18n();
  const { organization } = provisionersRoute.useSearch();
  const navigate = provisionersRoute.useNavigate();
  useTitle(t.nav.adminPages.provisioners, t.admin.title);
  return (
    <InOrganization
      name={organization}
      title={t.nav.adminPages.provisioners}
      onPick={(name) => void navigate({ search: { organization: name } })}
    >
      {(chosen, pick) => <List organization={chosen} pick={pick} />}
    </InOrganization>
  );
}
