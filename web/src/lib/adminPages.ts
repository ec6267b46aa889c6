/** The pages of the admin area: which there are, and whom the server lets read what stands on them. */

import {
  Building2,
  Cpu,
  HeartPulse,
  ListOrdered,
  type LucideIcon,
  ScrollText,
  SlidersHorizontal,
  UsersRound,
} from "lucide-react";
import type { Catalogue } from "@/i18n/en";
import type { SitePermissions } from "./siteChecks";

export interface AdminPage {
  to:
    | "/admin/users"
    | "/admin/members"
    | "/admin/provisioners"
    | "/admin/jobs"
    | "/admin/audit"
    | "/admin/deployment"
    | "/admin/health";
  icon: LucideIcon;
  word: keyof Catalogue["nav"]["adminPages"];
  needs: keyof SitePermissions;
}

export const ADMIN_PAGES: readonly AdminPage[] = [
  { to: "/admin/users", icon: UsersRound, word: "users", needs: "readUsers" },
  { to: "/admin/members", icon: Building2, word: "members", needs: "readMembers" },
  { to: "/admin/provisioners", icon: Cpu, word: "provisioners", needs: "readProvisioners" },
  { to: "/admin/jobs", icon: ListOrdered, word: "jobs", needs: "readJobs" },
  { to: "/admin/audit", icon: ScrollText, word: "audit", needs: "readAuditLog" },
  { to: "/admin/deployment", icon: SlidersHorizontal, word: "deployment", needs: "readDeployment" },
  { to: "/admin/health", icon: HeartPulse, word: "health", needs: "readHealth" },
];

/** Those that one may see. */
export const adminPages = (may: SitePermissions): AdminPage[] =>
  ADMIN_PAGES.filter((page) => may[page.needs]);

/** The one at this address. */
export const adminPageAt = (path: string): AdminPage | undefined =>
  ADMIN_PAGES.find((page) => path === page.to || path.startsWith(`${page.to}/`));
