/** Buttons and things that look like them. A disabled button can say why. */

import { Link, type LinkProps } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import { type ComponentProps, type ReactNode, type Ref, useCallback, useRef } from "react";
import { Tip } from "./Tip";
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

/**
 * A button that gets a reason, or loses it, is drawn anew, inside of a tooltip or outside: the new one takes the focus
 * that the old one had.
 */
function useKeptFocus(outer: Ref<HTMLButtonElement> | undefined) {
  const had = useRef(false);
  return useCallback(
    (button: HTMLButtonElement) => {
      if (had.current) button.focus();
      const undo = typeof outer === "function" ? outer(button) : undefined;
      if (outer && typeof outer !== "function") outer.current = button;
      return () => {
        had.current = document.activeElement === button;
        if (undo) undo();
        else if (typeof outer === "function") outer(null);
        else if (outer) outer.current = null;
      };
    },
    [outer],
  );
}

export function Button({
  look = "plain",
  icon: Icon,
  label,
  why,
  busy,
  children,
  onClick,
  ref: outer,
  ...rest
}: ButtonProps) {
  const ref = useKeptFocus(outer);
  const off = why !== undefined || busy === true;
  const button = (
    <button
      type="button"
      aria-label={label}
      {...rest}
      ref={ref}
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
  const tip = why ?? (children ? undefined : label);
  return tip ? <Tip text={tip}>{button}</Tip> : button;
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
  const link = (
    <Link {...rest} className={classes(look, !text)} aria-label={label}>
      {Icon && <Icon size={16} aria-hidden />}
      {text}
    </Link>
  );
  return label && !text ? <Tip text={label}>{link}</Tip> : link;
}
