/** Buttons and things that look like them. A disabled button can say why. */

import { Link, type LinkProps } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import "./button.css";

export type Look = "primary" | "plain" | "danger" | "quiet";

const classes = (look: Look, iconOnly: boolean) => `button button-${look}${iconOnly ? " button-icon" : ""}`;

interface ButtonProps extends Omit<ComponentProps<"button">, "children"> {
  look?: Look;
  icon?: LucideIcon;
  /** Without children it is the accessible name and the tooltip. */
  label?: string;
  /** Why it cannot be pressed now. It stays reachable by keyboard, so that everybody can read it. */
  why?: string | undefined;
  busy?: boolean;
  children?: ReactNode;
}

export function Button({
  look = "plain",
  icon: Icon,
  label,
  why,
  busy,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const off = why !== undefined || busy === true;
  return (
    <button
      type="button"
      aria-label={label}
      data-tip={why ?? (children ? undefined : label)}
      {...rest}
      className={classes(look, !children)}
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      onClick={(event) => {
        if (off) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

type ButtonLinkProps = LinkProps & {
  look?: Look;
  icon?: LucideIcon;
  label?: string;
  text?: string;
  onClick?: () => void;
};

/** A link to a page, looking like a button. */
export function ButtonLink({ look = "plain", icon: Icon, label, text, ...rest }: ButtonLinkProps) {
  return (
    <Link {...rest} className={classes(look, !text)} aria-label={label} data-tip={text ? undefined : label}>
      {Icon && <Icon size={16} aria-hidden />}
      {text}
    </Link>
  );
}
