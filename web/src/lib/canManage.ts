/**
 * What a person can do with a user or a member, and why not. Whether they *may* is the server's answer (`/authcheck`);
 * each function names the other rule of the server that it mirrors.
 */

import type { OrganizationMember, User } from "@/api/types";

/** The server's answers about users. */
export interface UserPermissions {
  update: boolean;
  delete: boolean;
  password: boolean;
  assign: boolean;
}

/** The server's answers about the members of an organization. */
export interface MemberPermissions {
  add: boolean;
  remove: boolean;
  assign: boolean;
}

/** Keys of the catalogue's `admin.why` texts. */
export type WhyNot =
  | "mayNot"
  | "ownRoles"
  | "ownStatus"
  | "ownPassword"
  | "ownAccount"
  | "ownMembership"
  | "isOwner"
  | "noPassword"
  | "alreadyActive"
  | "alreadySuspended";

/** `true`, or why not. */
export type CanManage = true | WhyNot;

/** `user_set_roles` in `crates/server/src/app/users.rs`: nobody changes their own. */
export function canAssign(user: User, me: User, may?: UserPermissions): CanManage {
  if (may && !may.assign) return "mayNot";
  return user.id === me.id ? "ownRoles" : true;
}

/** `user_set_status` in `crates/server/src/app/users.rs`: neither oneself nor an owner. */
export function canSuspend(user: User, me: User, may?: UserPermissions): CanManage {
  if (may && !may.update) return "mayNot";
  if (user.id === me.id) return "ownStatus";
  if (user.status === "suspended") return "alreadySuspended";
  return user.roles.some((role) => role.name === "owner") ? "isOwner" : true;
}

/** The same for letting somebody in again. */
export function canActivate(user: User, may?: UserPermissions): CanManage {
  if (may && !may.update) return "mayNot";
  return user.status === "suspended" ? true : "alreadyActive";
}

/** `user_set_password` in `crates/server/src/app/users.rs`: one's own needs the old one, which the account page asks for. */
export function canReset(user: User, me: User, may?: UserPermissions): CanManage {
  if (may && !may.password) return "mayNot";
  if (user.id === me.id) return "ownPassword";
  return user.login_type === "password" ? true : "noPassword";
}

/** `user_delete` in `crates/server/src/app/users.rs`: not oneself. That they own no workspace only the server knows. */
export function canDelete(user: User, me: User, may?: UserPermissions): CanManage {
  if (may && !may.delete) return "mayNot";
  return user.id === me.id ? "ownAccount" : true;
}

/** `member_set_roles` in `crates/server/src/app/organizations.rs`: nobody changes their own. */
export function canAssignMember(member: OrganizationMember, me: User, may?: MemberPermissions): CanManage {
  if (may && !may.assign) return "mayNot";
  return member.user_id === me.id ? "ownRoles" : true;
}

/** `member_remove` in `crates/server/src/app/organizations.rs`: not oneself. */
export function canRemove(member: OrganizationMember, me: User, may?: MemberPermissions): CanManage {
  if (may && !may.remove) return "mayNot";
  return member.user_id === me.id ? "ownMembership" : true;
}
