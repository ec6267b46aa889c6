/** A menu behind a button. Not modal, so that the page behind stays as it is. */

import { Check, type LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import "./menu.css";

export function Menu({ trigger, children }: { trigger: ReactNode; children: ReactNode }) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ItemProps {
  icon?: LucideIcon;
  /** Why it cannot be chosen now; shown under it. */
  why?: string | undefined;
  onSelect: () => void;
  children: ReactNode;
}

export function MenuItem({ icon: Icon, why, onSelect, children }: ItemProps) {
  return (
    <DropdownMenu.Item className="menu-item" disabled={why !== undefined} onSelect={onSelect}>
      {Icon && <Icon size={16} aria-hidden />}
      <span>
        {children}
        {why && <span className="menu-why">{why}</span>}
      </span>
    </DropdownMenu.Item>
  );
}

/** One choice of several, with a heading. */
export function MenuChoice<Value extends string>(props: {
  label: string;
  value: Value;
  options: Record<Value, string>;
  onChange: (value: Value) => void;
}) {
  return (
    <DropdownMenu.RadioGroup
      value={props.value}
      onValueChange={(value) => props.onChange(value as Value)}
      aria-label={props.label}
    >
      <DropdownMenu.Label className="menu-label">{props.label}</DropdownMenu.Label>
      {(Object.entries(props.options) as [Value, string][]).map(([value, label]) => (
        <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
          <span className="menu-check">
            <DropdownMenu.ItemIndicator>
              <Check size={16} aria-hidden />
            </DropdownMenu.ItemIndicator>
          </span>
          {label}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Label className="menu-label">{children}</DropdownMenu.Label>
);

export const MenuLine = () => <DropdownMenu.Separator className="menu-line" />;
