/** The questions about the deployment as a whole that the UI asks the server: what may this person see and do? */

import type { Check } from "@/api/endpoints";

const check = (resource_type: string, action: string): Check => ({ object: { resource_type }, action });

/** What belongs to organizations is asked for any of them: who may read one has a page to read it on. */
const anywhere = (resource_type: string, action: string): Check => ({
  object: { resource_type, any_org: true },
  action,
});

export const SITE_CHECKS = {
  createTemplates: anywhere("template", "create"),
  readUsers: check("user", "read"),
  createUsers: check("user", "create"),
  readMembers: anywhere("organization_member", "read"),
  readProvisioners: anywhere("provisioner_daemon", "read"),
  readJobs: anywhere("provisioner_jobs", "read"),
  readAuditLog: check("audit_log", "read"),
  readDeployment: check("deployment_config", "read"),
  readHealth: check("debug_info", "read"),
} satisfies Record<string, Check>;

/** The server's answers: `sitePermissionsQuery`. */
export type SitePermissions = Record<keyof typeof SITE_CHECKS, boolean>;
