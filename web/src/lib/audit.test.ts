import { expect, test } from "vitest";
import type { AuditLog } from "@/api/types";
import { additionalOf, changesOf, isNil, kindOf, linkOf, showValue, targetOf, whoOf } from "./audit";

const entry = (more: object) =>
  ({
    action: "write",
    resource_type: "user",
    resource_id: "id",
    resource_target: "ada",
    is_deleted: false,
    additional_fields: {},
    diff: {},
    ...more,
  }) as AuditLog;

test("an entry leads to what it speaks of", () => {
  expect(linkOf(entry({}))).toEqual({ to: "/admin/users", search: { filter: "search:ada" } });
  expect(
    linkOf(
      entry({
        resource_type: "workspace",
        additional_fields: { workspace_owner: "ada", workspace_name: "dev" },
      }),
    ),
  ).toEqual({ to: "/@{$owner}/$workspace", params: { owner: "ada", workspace: "dev" } });
  expect(linkOf(entry({ resource_type: "workspace_build" }))?.params).toEqual({ kind: "build", id: "id" });
  expect(linkOf(entry({ resource_type: "something_new" }))).toBeUndefined();
});

test("an agent is named after its workspace, and its connections are nobody's", () => {
  const words = { server: "The server", somebody: "Somebody" };
  const connected = entry({
    action: "connect",
    resource_type: "workspace_agent",
    resource_target: "main",
    user: null,
    additional_fields: { workspace_owner: "ada", workspace_name: "dev" },
  });
  expect(targetOf(connected)).toBe("ada/dev.main");
  expect(linkOf(connected)).toEqual({
    to: "/@{$owner}/$workspace",
    params: { owner: "ada", workspace: "dev" },
    search: { panel: "agents" },
  });
  expect(whoOf(connected, words)).toBe("Somebody");
  expect(whoOf(entry({ action: "stop", user: null }), words)).toBe("The server");
  expect(whoOf(entry({ action: "stop", user: { username: "eve" } }), words)).toBe("eve");
  expect(targetOf(entry({}))).toBe("ada");
});

test("a build that stops a workspace is told as the stop of the workspace", () => {
  expect(kindOf(entry({ action: "stop", resource_type: "workspace_build" }))).toBe("workspace");
  expect(kindOf(entry({ action: "write", resource_type: "workspace_build" }))).toBe("workspace_build");
  expect(kindOf(entry({ action: "stop", resource_type: "workspace" }))).toBe("workspace");
});

test("what is gone has no link", () => {
  expect(linkOf(entry({ action: "delete" }))).toBeUndefined();
  expect(linkOf(entry({ is_deleted: true }))).toBeUndefined();
});

test("a diff is told by field, and a secret only by its name", () => {
  const changes = changesOf(
    entry({
      diff: {
        roles: { old: [], new: [{ name: "auditor", display_name: "Auditor" }], secret: false },
        password: { old: "", new: "", secret: true },
        ttl: { new: 0, secret: false },
        icon: { new: "", secret: false },
      },
    }),
  );
  expect(changes).toEqual([
    { field: "roles", secret: false, old: "", new: "auditor" },
    { field: "password", secret: true, old: "", new: "" },
    { field: "ttl", secret: false, old: "", new: "0" },
  ]);
});

test("values are shown as what they are", () => {
  for (const [value, text] of [
    [null, ""],
    [false, "false"],
    ["<b>x</b>", "<b>x</b>"],
    [["a", "b"], '[\n "a",\n "b"\n]'],
    [[], ""],
  ] as const) {
    expect(showValue(value), JSON.stringify(value)).toBe(text);
  }
  expect(additionalOf(entry({ additional_fields: { a: "x", b: null, c: { d: 1 } } }))).toEqual([
    ["a", "x"],
    ["c", '{"d":1}'],
  ]);
  expect(additionalOf(entry({ additional_fields: null }))).toEqual([]);
});

test("the nil id is none", () => {
  expect([
    isNil("00000000-0000-0000-0000-000000000000"),
    isNil("106b049e-4a18-4fb0-9597-334c7e5f0502"),
  ]).toEqual([true, false]);
});
