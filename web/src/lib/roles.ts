/** What a role allows, as the server describes it. */

import type { AssignableRole, SlimRole } from "@/api/types";
import type { Catalogue } from "@/i18n/en";
import { SITE_CHECKS, type SitePermissions } from "./siteChecks";

/** The role's name in the reader's language; of a role that we do not know, the server's. */
export const roleName = (t: Catalogue, role: Pick<SlimRole, "name" | "display_name">): string =>
  t.roles[role.name] ?? (role.display_name || role.name);

/** The roles that would answer a question about the whole deployment with yes. */
export function rolesFor(needs: keyof SitePermissions, roles: readonly AssignableRole[]): AssignableRole[] {
  const { object, action } = SITE_CHECKS[needs];
  return roles.filter((role) =>
    role.site_permissions.some(
      (rule) =>
        !rule.negate &&
        rule.resource_type === object.resource_type &&
        (rule.action === "*" || rule.action === action),
    ),
  );
}
