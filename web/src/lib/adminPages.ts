/** The pages of the admin area: which there are, and whom the server lets read what stands on them. */

import type { LinkProps } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { Catalogue } from "@/i18n/en";

/** The server's answers for the deployment as a whole: `sitePermissionsQuery`. */
export interface SitePermissions {
  createTemplates: boolean;
  readUsers: boolean;
  createUsers: boolean;
  readMembers: boolean;
  readProvisioners: boolean;
  readJobs: boolean;
  readAuditLog: boolean;
  readDeployment: boolean;
  readHealth: boolean;
}

export interface AdminPage {
  to: Exclude<LinkProps["to"], undefined>;
  icon: LucideIcon;
  word: keyof Catalogue["admin"]["pages"];
  needs: keyof SitePermissions;
}

const PAGES: AdminPage[] = [];

export const adminPages = (may: SitePermissions): AdminPage[] => PAGES.filter((page) => may[page.needs]);
