import { expect, test } from "vitest";
import type { AssignableRole } from "@/api/types";
import { en } from "@/i18n/en";
import { roleName, rolesFor } from "./roles";

const role = (name: string, ...rules: [string, string, boolean?][]) =>
  ({
    name,
    display_name: name,
    site_permissions: rules.map(([resource_type, action, negate = false]) => ({
      resource_type,
      action,
      negate,
    })),
  }) as AssignableRole;

test("roles that allow a thing are found by what they allow", () => {
  const roles = [
    role("owner", ["audit_log", "*"]),
    role("auditor", ["audit_log", "read"]),
    role("clerk", ["audit_log", "create"], ["user", "read"]),
    role("barred", ["audit_log", "read", true]),
  ];
  expect(rolesFor("readAuditLog", roles).map(({ name }) => name)).toEqual(["owner", "auditor"]);
});

test("a role that we do not know keeps the server's name", () => {
  expect(roleName(en, { name: "auditor", display_name: "x" })).toBe("Auditor");
  expect(roleName(en, { name: "new-role", display_name: "New role" })).toBe("New role");
});
