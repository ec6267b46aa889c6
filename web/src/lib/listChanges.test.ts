import { expect, test } from "vitest";
import type { Workspace } from "@/api/types";
import { applyChanges, compareRows } from "./listChanges";

const row = (name: string, status = "stopped", more: object = {}) =>
  ({
    id: name,
    name,
    owner_id: "me",
    owner_name: "ann",
    favorite: false,
    latest_build: { status },
    ...more,
  }) as unknown as Workspace;
const list = (...rows: Workspace[]) => ({ workspaces: rows, count: rows.length });
const names = (rows: Workspace[]) => rows.map((each) => each.name);
const nothing = { changed: [], gone: [], stages: [] };

test("the order is the server's: own favorites, what runs, owner, name", () => {
  const rows = [
    row("d", "stopped", { owner_name: "Bob", owner_id: "bob", favorite: true }),
    row("b"),
    row("A"),
    row("c", "running"),
    row("e", "stopped", { favorite: true }),
  ];
  expect(names(rows.sort((a, b) => compareRows(a, b, "me")))).toEqual(["e", "c", "A", "b", "d"]);
});

test("a new row comes where the server would put it, and known ones stay where they are", () => {
  const old = list(row("a", "running"), row("c"), row("e"));
  const changes = { ...nothing, changed: [row("d"), row("a", "stopped")] };
  const next = applyChanges(old, changes, "me", 10);
  expect(names(next.workspaces)).toEqual(["a", "c", "d", "e"]);
  expect(next.workspaces[0]?.latest_build.status).toBe("stopped");
  expect(next.count).toBe(4);
});

test("what is gone leaves the list and the count, even when it was never on this page", () => {
  const old = list(row("a"), row("b"));
  const next = applyChanges(old, { ...nothing, gone: ["a", "unknown"] }, "me", 10);
  expect([names(next.workspaces), next.count]).toEqual([["b"], 1]);
});

test("a full page takes no more rows, and one of several pages none that it does not know", () => {
  const full = applyChanges(list(row("a"), row("b")), { ...nothing, changed: [row("aa")] }, "me", 2);
  expect([names(full.workspaces), full.count]).toEqual([["a", "b"], 3]);
  const paged = { workspaces: [row("a")], count: 7 };
  const next = applyChanges(paged, { ...nothing, changed: [row("b"), row("a", "running")] }, "me", 2);
  expect([names(next.workspaces), next.count]).toEqual([["a"], 7]);
  expect(next.workspaces[0]?.latest_build.status).toBe("running");
});
