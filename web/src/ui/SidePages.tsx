/** Several pages with one navigation at their side; above them where there is no room at the side. */

import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { useCurrentInSight } from "./useCurrentInSight";
import "./side-pages.css";

/** Where a link of the navigation leads, and how it looks. */
export type SidePage = Pick<LinkProps, "to" | "params" | "activeOptions"> & {
  icon: LucideIcon;
  text: string;
};

interface Props {
  label: string;
  pages: SidePage[];
  children: ReactNode;
}

export function SidePages({ label, pages, children }: Props) {
  const { pathname } = useLocation();
  const nav = useCurrentInSight(pathname);
  return (
    <div className="side-pages">
      <nav className="side-nav" aria-label={label} ref={nav}>
        {pages.map(({ icon: Icon, text, ...link }) => (
          <Link key={link.to} {...link} className="side-link">
            <Icon size={16} aria-hidden />
            {text}
          </Link>
        ))}
      </nav>
      {children}
    </div>
  );
}
