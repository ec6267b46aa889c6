/** Templates as one looks for them, and the settings of one as the API takes them. */

import type { Template, TemplateVersion, UpdateTemplate } from "@/api/types";

const fold = (text: string) => text.toLowerCase();

export const titleOf = (template: Template) => template.display_name || template.name;

/** Templates in which every word of the filter is found, by what people call them; deprecated ones last. */
export function matchingTemplates(templates: readonly Template[], filter: string): Template[] {
  const words = fold(filter).split(/\s+/).filter(Boolean);
  return templates
    .filter((template) => {
      const text = fold(`${template.name} ${template.display_name} ${template.description}`);
      return words.every((word) => text.includes(word));
    })
    .sort(
      (a, b) =>
        Number(a.deprecated) - Number(b.deprecated) ||
        b.active_user_count - a.active_user_count ||
        titleOf(a).localeCompare(titleOf(b)),
    );
}

/** A change of settings. What a request leaves out the server may set to zero, so it carries what is there too. */
export function templateChange(template: Template, change: UpdateTemplate): UpdateTemplate {
  return {
    display_name: template.display_name,
    description: template.description,
    icon: template.icon,
    default_ttl_ms: template.default_ttl_ms,
    activity_bump_ms: template.activity_bump_ms,
    autostart_requirement: template.autostart_requirement,
    autostop_requirement: template.autostop_requirement,
    allow_user_autostart: template.allow_user_autostart,
    allow_user_autostop: template.allow_user_autostop,
    allow_user_cancel_workspace_jobs: template.allow_user_cancel_workspace_jobs,
    failure_ttl_ms: template.failure_ttl_ms,
    time_til_dormant_ms: template.time_til_dormant_ms,
    time_til_dormant_autodelete_ms: template.time_til_dormant_autodelete_ms,
    require_active_version: template.require_active_version,
    deprecation_message: template.deprecation_message,
    max_port_share_level: template.max_port_share_level,
    ...change,
  };
}

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export type Day = (typeof DAYS)[number];

/** A length of time as one writes it into a form: hours or days, with fractions as the language writes them. */
export function fromMs(ms: number, unitMs: number): string {
  return ms === 0 ? "" : String(Math.round((ms / unitMs) * 100) / 100);
}

/** Whole milliseconds; an empty field is "never", which the API writes as 0. `undefined` for what is no length. */
export function toMs(text: string, unitMs: number): number | undefined {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return 0;
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(trimmed)) return undefined;
  return Math.round(Number(trimmed) * unitMs);
}

/** What one can do with a version, as the server would answer (`template_promote`, `version_archive`). */
export function versionActions(version: TemplateVersion, active: string) {
  const done = version.job.status === "succeeded";
  const ended = version.job.completed_at !== undefined;
  return {
    promote: done && !version.archived && version.id !== active,
    archive: ended && !version.archived && version.id !== active,
    unarchive: version.archived,
  };
}
