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

/** Who did it. Nobody is named where an agent tells of a connection. */
export function whoOf(entry: AuditLog, words: { server: string; somebody: string }): string {
  if (entry.user) return entry.user.username;
  switch (entry.action) {
    case "connect":
    case "disconnect":
    case "open":
    case "close":
      return words.somebody;
    default:
      return words.server;
  }
}

/** What was done something to. What starts, stops or deletes a workspace is recorded as a build of it. */
export const kindOf = ({ resource_type, action }: AuditLog): string =>
  resource_type === "workspace_build" && (action === "start" || action === "stop" || action === "delete")
    ? "workspace"
    : resource_type;

/** The thing's name; that of an agent, which many have, after its workspace's. */
export function targetOf(entry: AuditLog): string {
  const more = Object.fromEntries(additionalOf(entry));
  return entry.resource_type === "workspace_agent" && more.workspace_owner && more.workspace_name
    ? `${more.workspace_owner}/${more.workspace_name}.${entry.resource_target}`
    : entry.resource_target;
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
    case "workspace_agent":
      return more.workspace_owner && more.workspace_name
        ? {
            to: "/@{$owner}/$workspace",
            params: { owner: more.workspace_owner, workspace: more.workspace_name },
            search: { panel: "agents" },
          }
        : undefined;
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
