/** Several pages with one navigation at their side; above them where there is no room at the side. */

import { Link, type LinkProps } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import "./side-pages.css";

/** Where a link of the navigation leads, and how it looks. */
export type SidePage = Pick<LinkProps, "to" | "params"> & { icon: LucideIcon; text: string };

interface Props {
  label: string;
  pages: SidePage[];
  children: ReactNode;
}

export function SidePages({ label, pages, children }: Props) {
  return (
    <div className="side-pages">
      <nav className="side-nav" aria-label={label}>
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
