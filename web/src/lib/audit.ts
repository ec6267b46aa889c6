/** Entries of the audit log: what they speak of, where that is, and what changed. */

import type { LinkProps } from "@tanstack/react-router";
import type { AuditLog } from "@/api/types";
import { writeTerm } from "./query";

type Link = Pick<LinkProps, "to" | "params" | "search">;

/** What an entry carries beside its diff, as texts; nested values as JSON. */
export function additionalOf(entry: AuditLog): [string, string][] {
  const { additional_fields: fields } = entry;
  if (typeof fields !== "object" || fields === null) return [];
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== "")
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
}

/** Where the thing is that an entry speaks of; nowhere when it was deleted or is of a kind without a page. */
export function linkOf(entry: AuditLog): Link | undefined {
  if (entry.action === "delete" || entry.is_deleted) return undefined;
  const more = Object.fromEntries(additionalOf(entry));
  const { resource_id: id, resource_target: target } = entry;
  switch (entry.resource_type) {
    case "user":
    case "api_key":
    case "git_ssh_key":
      return target ? { to: "/admin/users", search: { filter: writeTerm("search", target) } } : undefined;
    case "organization_member":
      return { to: "/admin/members" };
    case "workspace":
      if (more.workspace_owner && more.workspace_name) {
        return {
          to: "/@{$owner}/$workspace",
          params: { owner: more.workspace_owner, workspace: more.workspace_name },
        };
      }
      return { to: "/find/$kind/$id", params: { kind: "workspace", id } };
    case "workspace_build":
      return { to: "/find/$kind/$id", params: { kind: "build", id } };
    case "template":
      return { to: "/find/$kind/$id", params: { kind: "template", id } };
    case "template_version":
      return { to: "/find/$kind/$id", params: { kind: "version", id } };
    default:
      return undefined;
  }
}

/** A value as a text that one can compare by eye: names of a list instead of its JSON, where it has names. */
export function showValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return "";
  if (typeof value === "string") return value;
  if (
    Array.isArray(value) &&
    value.every((each) => typeof each === "object" && each !== null && "name" in each)
  ) {
    return value.map((each) => String((each as { name: unknown }).name)).join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value, null, 1) : String(value);
}

/** One field that changed. The values of a secret are never in the record. */
export interface Changed {
  field: string;
  secret: boolean;
  old: string;
  new: string;
}

/** What changed, by field; without those that were and are empty, of which new things have many. */
export const changesOf = (entry: AuditLog): Changed[] =>
  Object.entries(entry.diff)
    .map(([field, change]) => ({
      field,
      secret: change.secret,
      old: showValue(change.old),
      new: showValue(change.new),
    }))
    .filter((change) => change.secret || change.old !== "" || change.new !== "");

/** The API's nil id, which stands for "none". */
export const isNil = (id: string) => /^[0-]+$/.test(id);
