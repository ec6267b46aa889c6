/** The frame of the pages about oneself. */

import { Outlet } from "@tanstack/react-router";
import { CircleUserRound } from "lucide-react";
import { useT } from "@/i18n";
import { SidePages } from "@/ui/SidePages";

export function Account() {
  const t = useT();
  return (
    <SidePages
      label={t.account.title}
      pages={[{ to: "/settings/account", icon: CircleUserRound, text: t.account.pages.profile }]}
    >
      <Outlet />
    </SidePages>
  );
}
