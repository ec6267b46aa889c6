/** The frame of all pages behind the sign-in: where one can go, and who one is. */

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import {
  CircleUserRound,
  Keyboard,
  LayoutTemplate,
  LogOut,
  Search,
  Settings,
  SquareTerminal,
  UserCog,
} from "lucide-react";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from "react";
import { useAccountTheme } from "@/api/accountQueries";
import { meQuery, sitePermissionsQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { adminPages } from "@/lib/adminPages";
import { type Area, areaOf } from "@/lib/area";
import { useNarrow } from "@/lib/media";
import { PALETTE_KEY, useShortcuts } from "@/lib/shortcuts";
import { useSignOut } from "@/lib/signOut";
import { Logo } from "@/ui/Logo";
import { Menu, MenuItem, MenuLabel, MenuLine } from "@/ui/Menu";
import { Bell } from "./Bell";
import { Preferences } from "./Preferences";
import "./shell.css";

const loadPalette = () => import("./palette/Palette");
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));
const Shortcuts = lazy(async () => ({ default: (await import("./palette/Shortcuts")).Shortcuts }));

/** Safari has no idle callback; there a moment later is as good. */
const SOON_MS = 2000;

function useSoon(load: () => Promise<unknown>) {
  useEffect(() => {
    const run = () => void load().catch(() => undefined);
    if (!window.requestIdleCallback) {
      const timer = window.setTimeout(run, SOON_MS);
      return () => window.clearTimeout(timer);
    }
    const handle = window.requestIdleCallback(run);
    return () => window.cancelIdleCallback(handle);
  }, [load]);
}

const itemClass = (now: boolean) => (now ? "nav-item active" : "nav-item");

/** An entry of the navigation; it is the one where one is on all pages of its area. */
function NavLink(props: {
  to: "/workspaces" | "/templates" | "/admin";
  area: Area;
  now: Area | undefined;
  children: ReactNode;
}) {
  const now = props.area === props.now;
  return (
    <Link
      to={props.to}
      className={itemClass(now)}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{}}
      aria-current={now ? "true" : undefined}
    >
      {props.children}
    </Link>
  );
}

interface AccountMenuProps {
  admin: boolean;
  /** The page is one of those that the menu leads to. */
  now: boolean;
  onShortcuts: () => void;
}

function AccountMenu({ admin, now, onShortcuts }: AccountMenuProps) {
  const t = useT();
  const { data: me } = useSuspenseQuery(meQuery);
  const navigate = useNavigate();
  const signOut = useSignOut();
  return (
    <Menu
      trigger={
        <button
          type="button"
          className={itemClass(now)}
          aria-current={now ? "true" : undefined}
          aria-label={`${t.nav.account}: ${me.username}`}
        >
          <CircleUserRound size={20} aria-hidden />
          <span className="nav-word cut">{me.username}</span>
        </button>
      }
    >
      <MenuLabel>{t.nav.signedInAs(me.name || me.username)}</MenuLabel>
      <MenuItem icon={UserCog} onSelect={() => void navigate({ to: "/settings/account" })}>
        {t.nav.settings}
      </MenuItem>
      {admin && (
        <MenuItem icon={Settings} onSelect={() => void navigate({ to: "/admin" })}>
          {t.nav.admin}
        </MenuItem>
      )}
      <MenuItem icon={Keyboard} onSelect={onShortcuts}>
        {t.palette.shortcuts}
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
  const narrow = useNarrow();
  const area = areaOf(useLocation({ select: (location) => location.pathname }));
  const { data: may } = useQuery(sitePermissionsQuery);
  const admin = may !== undefined && adminPages(may).length > 0;
  const [above, setAbove] = useState<"palette" | "shortcuts">();
  const close = useCallback(() => setAbove(undefined), []);
  const showShortcuts = useCallback(() => setAbove("shortcuts"), []);
  useShortcuts(
    useCallback(() => setAbove((now) => (now === "palette" ? undefined : "palette")), []),
    showShortcuts,
  );
  useSoon(loadPalette);
  useAccountTheme();
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
          <NavLink to="/workspaces" area="workspaces" now={area}>
            <SquareTerminal size={20} aria-hidden className="nav-icon" />
            <span className="nav-word">{narrow ? t.nav.workspacesShort : t.nav.workspaces}</span>
          </NavLink>
          <NavLink to="/templates" area="templates" now={area}>
            <LayoutTemplate size={20} aria-hidden className="nav-icon" />
            <span className="nav-word">{t.nav.templates}</span>
          </NavLink>
          {/* The bar at the bottom has room for four and the account: there it stands in the account's menu. */}
          {admin && !narrow && (
            <NavLink to="/admin" area="admin" now={area}>
              <span className="nav-word">{t.nav.admin}</span>
            </NavLink>
          )}
          <span className="nav-space" />
          <button
            type="button"
            className="nav-item nav-search"
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => setAbove("palette")}
            onPointerEnter={() => void loadPalette()}
          >
            <Search size={narrow ? 20 : 16} aria-hidden />
            <span className="nav-word">{t.palette.open}</span>
            <kbd aria-hidden>{PALETTE_KEY}</kbd>
          </button>
          <Bell />
          <AccountMenu
            admin={admin && narrow}
            now={area === "account" || (narrow && area === "admin")}
            onShortcuts={showShortcuts}
          />
        </nav>
      </header>
      <Outlet />
      <Suspense>
        {above === "palette" && <Palette onClose={close} onShortcuts={showShortcuts} />}
        {above === "shortcuts" && <Shortcuts onClose={close} />}
      </Suspense>
    </>
  );
}
