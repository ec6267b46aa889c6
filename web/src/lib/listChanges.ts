/** What a list of workspaces looks like after the server's stream has told of changes. */

import type { Workspace, WorkspaceListChanges, WorkspacesResponse } from "@/api/types";

/** The server's order, `workspace_list` in `crates/store/src/workspace_search.rs`: negative when `a` comes first. */
export function compareRows(a: Workspace, b: Workspace, me: string): number {
  const rank = (row: Workspace) => [
    row.favorite && row.owner_id === me ? 0 : 1,
    row.latest_build.status === "running" ? 0 : 1,
  ];
  const [one, other] = [rank(a), rank(b)];
  for (const [index, value] of one.entries()) {
    const difference = value - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  const text = (row: Workspace) => `${row.owner_name.toLowerCase()}\n${row.name.toLowerCase()}\n${row.id}`;
  return text(a) < text(b) ? -1 : 1;
}

/**
 * The list with the changes in it. Rows that are there stay where they are, so that nothing moves under the pointer; the
 * order is the server's again when the list is read. Of what is new, all that the page has room for is put in its place.
 */
export function applyChanges(
  list: WorkspacesResponse,
  changes: WorkspaceListChanges,
  me: string,
  room: number,
): WorkspacesResponse {
  const gone = new Set(changes.gone);
  const changed = new Map(changes.changed.map((workspace) => [workspace.id, workspace]));
  let count = list.count;
  const rows: Workspace[] = [];
  for (const row of list.workspaces) {
    if (gone.has(row.id)) count -= 1;
    else rows.push(changed.get(row.id) ?? row);
    changed.delete(row.id);
  }
  // With more pages than this one nobody here knows whether it is new or on another page.
  if (list.count <= list.workspaces.length) {
    for (const workspace of changed.values()) {
      count += 1;
      if (rows.length >= room) continue;
      const at = rows.findIndex((row) => compareRows(workspace, row, me) < 0);
      rows.splice(at < 0 ? rows.length : at, 0, workspace);
    }
  }
  return { workspaces: rows, count };
}
