/** The queue of jobs: what waits, what runs, what became of the rest. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, ListOrdered } from "lucide-react";
import { type ReactNode, useState } from "react";
import { JOBS_STEP, jobPermissionsQuery, jobsQuery } from "@/api/adminQueries";
import { builds, templates } from "@/api/endpoints";
import type { Organization, ProvisionerJob } from "@/api/types";
import type { AdminCatalogue } from "@/i18n/admin";
import { useAdminI18n } from "@/i18n/admin";
import { canCancelJob, subjectOf } from "@/lib/jobs";
import { useTitle } from "@/lib/title";
import { JOB_STATUSES, jobsRoute } from "@/routes/admin";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { Select } from "@/ui/Field";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Table } from "@/ui/Table";
import { Duration, Time } from "@/ui/Time";
import { JobState, Tags } from "./jobParts";
import { InOrganization } from "./organization";

const ACTIVE = "pending,running,canceling";

function nameOf(t: AdminCatalogue, job: ProvisionerJob): string {
  const { workspace_name, template_display_name, template_name, template_version_name } = job.metadata;
  if (workspace_name) return t.admin.jobs.workspace(workspace_name);
  return t.admin.jobs.version(template_display_name || template_name, template_version_name);
}

async function cancel(job: ProvisionerJob): Promise<void> {
  const { workspace_build_id, template_version_id } = job.input;
  if (job.type === "workspace_build" && workspace_build_id) await builds.cancel(workspace_build_id);
  else if (job.type === "template_version_dry_run" && template_version_id) {
    await templates.cancelDryRun(template_version_id, job.id);
  } else if (template_version_id) await templates.cancelVersion(template_version_id);
}

function Subject({ job }: { job: ProvisionerJob }) {
  const { t } = useAdminI18n();
  const subject = subjectOf(job);
  const name = nameOf(t, job);
  return (
    <span className="two">
      {subject ? (
        <Link to="/find/$kind/$id" params={subject}>
          {name}
        </Link>
      ) : (
        <span>{name}</span>
      )}
      <span className="muted small">{t.admin.jobs.type[job.type]}</span>
      {job.error && <span className="job-error small">{job.error}</span>}
    </span>
  );
}

function State({ job }: { job: ProvisionerJob }) {
  const { t } = useAdminI18n();
  const workers = job.available_workers?.length ?? 0;
  return (
    <span className="two job-state">
      <JobState status={job.status} />
      {job.status === "pending" && (
        <>
          <span className="muted small">{t.admin.jobs.queue(job.queue_position, job.queue_size)}</span>
          <span className="muted small">
            {workers === 0 ? t.admin.jobs.noWorker : t.admin.jobs.workers(workers)}
          </span>
        </>
      )}
    </span>
  );
}

function CancelDialog({ job, onClose }: { job: ProvisionerJob; onClose: () => void }) {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const stop = useMutation({
    mutationFn: () => cancel(job),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["jobs"] });
      onClose();
    },
  });
  return (
    <Confirm
      title={t.admin.jobs.cancelTitle}
      lead={`${nameOf(t, job)}. ${t.admin.jobs.cancelLead}`}
      action={t.admin.jobs.cancel}
      danger
      open
      busy={stop.isPending}
      error={stop.error}
      onConfirm={stop.mutate}
      onClose={onClose}
    />
  );
}

function None() {
  const { t } = useAdminI18n();
  const { status, job } = jobsRoute.useSearch();
  const navigate = jobsRoute.useNavigate();
  return (
    <Empty
      icon={ListOrdered}
      title={t.admin.jobs.emptyTitle}
      action={
        (status || job) && (
          <Button
            onClick={() =>
              void navigate({ search: ({ organization }) => (organization ? { organization } : {}) })
            }
          >
            {t.admin.jobs.showAll}
          </Button>
        )
      }
    >
      <p>
        {status
          ? t.admin.jobs.noneWith(status === "active" ? t.admin.jobs.active : t.job[status])
          : t.admin.jobs.emptyText}
      </p>
    </Empty>
  );
}

function List({ organization, pick }: { organization: Organization; pick: ReactNode }) {
  const { t } = useAdminI18n();
  const search = jobsRoute.useSearch();
  const navigate = jobsRoute.useNavigate();
  const limit = search.limit ?? JOBS_STEP;
  const { data: may } = useQuery(jobPermissionsQuery(organization.id));
  const { data, error, isPending, refetch } = useQuery(
    jobsQuery(organization.id, {
      ...(search.status ? { status: search.status === "active" ? ACTIVE : search.status } : {}),
      ...(search.job ? { ids: search.job } : {}),
      limit,
    }),
  );
  const [canceled, setCanceled] = useState<ProvisionerJob>();
  const columns = t.admin.jobs.columns;
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.jobs}</h1>
      </div>
      <p className="lead">{t.admin.jobs.lead}</p>
      <div className="tools">
        <Select
          label={t.admin.jobs.filter}
          value={search.status ?? ""}
          options={[
            ["", t.admin.jobs.all],
            ["active", t.admin.jobs.active],
            ...JOB_STATUSES.map((status) => [status, t.job[status]] as const),
          ]}
          onPick={(status) =>
            void navigate({
              search: ({ organization: of }) => ({
                ...(of ? { organization: of } : {}),
                ...(status ? { status } : {}),
              }),
            })
          }
        />
        {pick}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={6} />}
      {data?.length === 0 && <None />}
      {data && data.length > 0 && (
        <>
          <div className="panel-box cards">
            <Table
              label={t.nav.adminPages.jobs}
              rows={data}
              rowKey={(job) => job.id}
              columns={[
                { title: columns.job, cell: (job) => <Subject job={job} /> },
                { title: columns.status, cell: (job) => <State job={job} /> },
                { title: columns.tags, cell: (job) => <Tags tags={job.tags} /> },
                {
                  title: columns.provisioner,
                  cell: (job) => job.worker_name || <span className="muted">{t.common.none}</span>,
                },
                { title: columns.created, cell: (job) => <Time at={job.created_at} /> },
                {
                  title: columns.took,
                  cell: (job) => job.started_at && <Duration from={job.started_at} to={job.completed_at} />,
                },
                {
                  title: columns.actions,
                  actions: true,
                  cell: (job) => {
                    const can = canCancelJob(job, may);
                    if (can === "ended") return null;
                    return (
                      <span className="row-menu">
                        <Button
                          look="quiet"
                          icon={Ban}
                          label={t.admin.jobs.cancelOf(nameOf(t, job))}
                          why={can === true ? undefined : t.admin.why[can]}
                          onClick={() => setCanceled(job)}
                        />
                      </span>
                    );
                  },
                },
              ]}
            />
          </div>
          {search.job && (
            <p className="list-note">
              {t.admin.jobs.one} <Link to="/admin/jobs">{t.admin.jobs.showAll}</Link>
            </p>
          )}
          {!search.job && (
            <p className="list-note">
              {t.admin.jobs.found(data.length)}{" "}
              {data.length >= limit && (
                <Button
                  onClick={() => void navigate({ search: (old) => ({ ...old, limit: limit + JOBS_STEP }) })}
                >
                  {t.admin.jobs.more(JOBS_STEP)}
                </Button>
              )}
            </p>
          )}
        </>
      )}
      {canceled && <CancelDialog job={canceled} onClose={() => setCanceled(undefined)} />}
    </main>
  );
}

export function Jobs() {
  const { t } = useAdminI18n();
  const { organization } = jobsRoute.useSearch();
  const navigate = jobsRoute.useNavigate();
  useTitle(t.nav.adminPages.jobs, t.admin.title);
  return (
    <InOrganization
      name={organization}
      title={t.nav.adminPages.jobs}
      onPick={(name) => void navigate({ search: { organization: name } })}
    >
      {(chosen, pick) => <List organization={chosen} pick={pick} />}
    </InOrganization>
  );
}
