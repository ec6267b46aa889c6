import { expect, test } from "vitest";
import type { OrganizationMember, User } from "@/api/types";
import {
  canActivate,
  canAssign,
  canAssignMember,
  canDelete,
  canRemove,
  canReset,
  canSuspend,
  type UserPermissions,
} from "./canManage";

const ALL: UserPermissions = { update: true, delete: true, password: true, assign: true };
const NONE: UserPermissions = { update: false, delete: false, password: false, assign: false };

const user = (more: Partial<User>) =>
  ({ id: "other", status: "active", login_type: "password", roles: [], ...more }) as User;
const ME = user({ id: "me" });

test("nobody locks themselves out", () => {
  expect([
    canAssign(ME, ME, ALL),
    canSuspend(ME, ME, ALL),
    canReset(ME, ME, ALL),
    canDelete(ME, ME, ALL),
  ]).toEqual(["ownRoles", "ownStatus", "ownPassword", "ownAccount"]);
  const member = { user_id: "me" } as OrganizationMember;
  const may = { add: true, remove: true, assign: true };
  expect([canAssignMember(member, ME, may), canRemove(member, ME, may)]).toEqual([
    "ownRoles",
    "ownMembership",
  ]);
});

test("owners are not suspended, and who has no password gets none", () => {
  const owner = user({ roles: [{ name: "owner", display_name: "Owner" }] });
  expect(canSuspend(owner, ME, ALL)).toBe("isOwner");
  expect(canReset(user({ login_type: "none" }), ME, ALL)).toBe("noPassword");
});

test("suspending and activating exclude one another", () => {
  expect([canSuspend(user({}), ME, ALL), canActivate(user({}), ALL)]).toEqual([true, "alreadyActive"]);
  const suspended = user({ status: "suspended" });
  expect([canSuspend(suspended, ME, ALL), canActivate(suspended, ALL)]).toEqual(["alreadySuspended", true]);
});

test("who may not, cannot, whoever it is about", () => {
  for (const about of [ME, user({})]) {
    expect([
      canAssign(about, ME, NONE),
      canSuspend(about, ME, NONE),
      canActivate(about, NONE),
      canReset(about, ME, NONE),
      canDelete(about, ME, NONE),
    ]).toEqual(Array(5).fill("mayNot"));
  }
});
