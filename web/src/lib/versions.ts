/** What one can do with a version of a template, and why not. */

import type { Template, TemplateVersion } from "@/api/types";

/** The server writes this where a version belongs to no template yet. */
const NOBODY = "00000000-0000-0000-0000-000000000000";

/** The template that a version belongs to. */
export const templateOf = (version: TemplateVersion): string | undefined =>
  version.template_id && version.template_id !== NOBODY ? version.template_id : undefined;

/** Whether its import has not ended. */
export const isImporting = (version: TemplateVersion): boolean => version.job.completed_at === undefined;

export const hasImported = (version: TemplateVersion): boolean => version.job.status === "succeeded";

/** Whether its import only lacks values. */
export const needsValues = (version: TemplateVersion): boolean =>
  version.job.error_code === "REQUIRED_TEMPLATE_VARIABLES";

/** Keys of the catalogue's `editor.version.why`. */
export type WhyNotActive = "notAllowed" | "active" | "failed" | "importing" | "archived";

/** Whether it can become the active version: `template_promote` in `crates/server/src/app/templates.rs`. */
export function canActivate(
  template: Template,
  version: TemplateVersion,
  mayEdit: boolean | undefined,
): true | WhyNotActive {
  if (mayEdit === false) return "notAllowed";
  if (template.active_version_id === version.id) return "active";
  if (isImporting(version)) return "importing";
  if (!hasImported(version)) return "failed";
  return version.archived ? "archived" : true;
}
