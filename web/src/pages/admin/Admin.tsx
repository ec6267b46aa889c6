/** The frame of the admin pages: a navigation with those that one may see. */

import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { sitePermissionsQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { adminPages } from "@/lib/adminPages";
import { SidePages } from "@/ui/SidePages";

export function Admin() {
  const t = useT();
  const { data: may } = useQuery(sitePermissionsQuery);
  const pages = may ? adminPages(may) : [];
  return (
    <SidePages
      label={t.admin.title}
      pages={pages.map(({ to, icon, word }) => ({ to, icon, text: t.admin.pages[word] }))}
    >
      <Outlet />
    </SidePages>
  );
}
