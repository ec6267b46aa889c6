/** The frame of all pages behind the sign-in: where one can go, and who one is. */

import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { CircleUserRound, LayoutTemplate, LogOut, Settings, SquareTerminal, UserCog } from "lucide-react";
import { session } from "@/api/endpoints";
import { meQuery, sitePermissionsQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { adminPages } from "@/lib/adminPages";
import { Logo } from "@/ui/Logo";
import { Menu, MenuItem, MenuLabel, MenuLine } from "@/ui/Menu";
import { Preferences } from "./Preferences";
import "./shell.css";

function AccountMenu() {
  const t = useT();
  const { data: me } = useSuspenseQuery(meQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: session.logout,
    onSettled: async () => {
      await navigate({ to: "/login" });
      client.clear();
    },
  });
  return (
    <Menu
      trigger={
        <button type="button" className="nav-item" aria-label={`${t.nav.account}: ${me.username}`}>
          <CircleUserRound size={20} aria-hidden />
          <span className="nav-word cut">{me.username}</span>
        </button>
      }
    >
      <MenuLabel>{t.nav.signedInAs(me.name || me.username)}</MenuLabel>
      <MenuItem icon={UserCog} onSelect={() => void navigate({ to: "/settings/account" })}>
        {t.nav.settings}
      </MenuItem>
      <MenuLine />
      <Preferences />
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => signOut.mutate()}>
        {t.nav.signOut}
      </MenuItem>
    </Menu>
  );
}

export function Shell() {
  const t = useT();
  const { data: may } = useQuery(sitePermissionsQuery);
  return (
    <>
      <a className="skip" href="#content">
        {t.nav.skip}
      </a>
      <header className="header">
        <Link to="/workspaces" className="brand" aria-label={t.product}>
          <Logo />
        </Link>
        <nav className="nav" aria-label={t.nav.main}>
          <Link to="/workspaces" className="nav-item" activeOptions={{ exact: true, includeSearch: false }}>
            <SquareTerminal size={20} aria-hidden className="nav-icon" />
            <span className="nav-word">{t.nav.workspaces}</span>
          </Link>
          <Link to="/templates" className="nav-item">
            <LayoutTemplate size={20} aria-hidden className="nav-icon" />
            <span className="nav-word">{t.nav.templates}</span>
          </Link>
          {may && adminPages(may).length > 0 && (
            <Link to="/admin" className="nav-item">
              <Settings size={20} aria-hidden className="nav-icon" />
              <span className="nav-word">{t.nav.admin}</span>
            </Link>
          )}
          <span className="nav-space" />
          <AccountMenu />
        </nav>
      </header>
      <Outlet />
    </>
  );
}
