/** The frame of the pages about oneself. */

import { Outlet } from "@tanstack/react-router";
import { useT } from "@/i18n";
import { ACCOUNT_PAGES } from "@/lib/accountPages";
import { SidePages } from "@/ui/SidePages";

export function Account() {
  const t = useT();
  return (
    <SidePages
      label={t.account.title}
      pages={ACCOUNT_PAGES.map(({ to, icon, word }) => ({ to, icon, text: t.account.pages[word] }))}
    >
      <Outlet />
    </SidePages>
  );
}
