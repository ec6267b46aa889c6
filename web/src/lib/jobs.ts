/** What a provisioner job is about, and whether it can be canceled. */

import type { ProvisionerJob } from "@/api/types";
import type { Findable } from "@/routes/find";

/** The server's answers about the jobs of an organization. */
export interface JobPermissions {
  workspaces: boolean;
  templates: boolean;
}

/** Where a job's result is: the build of a workspace, or the version of a template. */
export function subjectOf(job: ProvisionerJob): { kind: Findable; id: string } | undefined {
  const { workspace_build_id, template_version_id } = job.input;
  if (job.type === "workspace_build") {
    return workspace_build_id ? { kind: "build", id: workspace_build_id } : undefined;
  }
  return template_version_id ? { kind: "version", id: template_version_id } : undefined;
}

/**
 * `job_cancel` in `crates/store/src/jobs.rs`: who may update the workspace or the template, and while it goes on.
 * Keys of the catalogue's `admin.why` texts.
 */
export function canCancelJob(
  job: ProvisionerJob,
  may?: JobPermissions,
): true | "mayNot" | "ended" | "canceling" {
  if (job.status === "canceling") return "canceling";
  if (job.status !== "pending" && job.status !== "running") return "ended";
  if (may && !(job.type === "workspace_build" ? may.workspaces : may.templates)) return "mayNot";
  return true;
}
