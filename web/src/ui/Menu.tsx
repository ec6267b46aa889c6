/** A menu behind a button. Not modal, so that the page behind stays as it is. */

import { Check, type LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import {
  type ComponentProps,
  cloneElement,
  type KeyboardEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import "./menu.css";

/** Stands where the library wants its trigger, and hands it the button that is there already. */
function StandIn(props: { ref?: Ref<HTMLButtonElement>; button: RefObject<HTMLButtonElement | null> }) {
  const { ref, button } = props;
  useImperativeHandle(ref, () => button.current as HTMLButtonElement, [button]);
  return null;
}

const OPENS = ["Enter", " ", "ArrowDown"];

/** Until somebody comes near it, a menu is a button that says so: rows that come and go have one each. */
export function Menu(props: { trigger: ReactElement<ComponentProps<"button">>; children: ReactNode }) {
  const [near, setNear] = useState(false);
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const come = () => setNear(true);
  const trigger = cloneElement(props.trigger, {
    ref: button,
    id,
    "aria-haspopup": "menu",
    "aria-expanded": open,
    onPointerEnter: come,
    onFocus: come,
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || event.ctrlKey) return;
      // The focus is the menu's that opens.
      if (!open) event.preventDefault();
      come();
      setOpen(!open);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (!OPENS.includes(event.key)) return;
      event.preventDefault();
      come();
      setOpen(event.key === "ArrowDown" || !open);
    },
  });
  return (
    <>
      {trigger}
      {near && (
        <DropdownMenu.Root modal={false} open={open} onOpenChange={setOpen}>
          <DropdownMenu.Trigger asChild>
            <StandIn button={button} />
          </DropdownMenu.Trigger>
          <DropdownMenu.Portal>
            <DropdownMenu.Content
              className="menu"
              align="end"
              sideOffset={4}
              collisionPadding={8}
              aria-labelledby={id}
            >
              {props.children}
            </DropdownMenu.Content>
          </DropdownMenu.Portal>
        </DropdownMenu.Root>
      )}
    </>
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
