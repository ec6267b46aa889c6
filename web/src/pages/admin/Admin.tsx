/** The frame of the admin pages: a navigation with those that one may see, and a plain word at the others. */

import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { sitePermissionsQuery } from "@/api/queries";
import { useAdminI18n } from "@/i18n/admin";
import { adminPageAt, adminPages } from "@/lib/adminPages";
import type { SitePermissions } from "@/lib/siteChecks";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { SidePages } from "@/ui/SidePages";
import { NotAllowed } from "../Fallbacks";
import "./admin.css";

function Page({ may }: { may: SitePermissions }) {
  const { pathname } = useLocation();
  const page = adminPageAt(pathname);
  return !page || may[page.needs] ? <Outlet /> : <NotAllowed needs={page.needs} />;
}

export function Admin() {
  const { t } = useAdminI18n();
  const { data: may, error, refetch } = useQuery(sitePermissionsQuery);
  const pages = may ? adminPages(may) : [];
  if (may && pages.length === 0) return <Page may={may} />;
  return (
    <SidePages
      label={t.admin.title}
      pages={pages.map(({ to, icon, word }) => ({ to, icon, text: t.nav.adminPages[word] }))}
    >
      {may ? (
        <Page may={may} />
      ) : (
        <main className="page" id="content">
          <h1>{t.admin.title}</h1>
          {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={6} />}
        </main>
      )}
    </SidePages>
  );
}
