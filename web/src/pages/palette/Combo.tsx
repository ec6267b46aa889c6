/** A field with a list under it that is chosen from by keyboard, mouse or touch; the focus stays in the field. */

import { ChevronRight, type LucideIcon } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useT } from "@/i18n";
import { groupBy } from "@/lib/groups";

export interface Item {
  /** Names it across queries, so that it stays selected while others come. */
  id: string;
  group: string;
  icon: LucideIcon;
  label: string;
  /** Beside the label: what kind it is, its state. */
  detail?: ReactNode;
  /** Why it cannot be chosen now. */
  why?: string | undefined;
  onChoose: () => void;
  /** Leads to what can be done with it. */
  onMore?: () => void;
}

interface Props {
  label: string;
  placeholder: string;
  query: string;
  onQuery: (query: string) => void;
  items: Item[];
  /** Takes the focus when it appears; the first one gets it from the dialog, which then keeps it from everything behind. */
  autoFocus: boolean;
  /** Goes back to the list before this one; Escape is the dialog's. */
  onBack?: () => void;
  /** Under the list: errors, and what is going on. */
  children?: ReactNode;
}

export function Combo({ label, placeholder, query, onQuery, items, autoFocus, onBack, children }: Props) {
  const t = useT();
  const list = useId();
  const [active, setActive] = useState<string>();
  const shown = useRef<HTMLDivElement>(null);
  const byKey = useRef(false);
  const at = Math.max(
    0,
    items.findIndex((item) => item.id === active),
  );
  const chosen = items[at];
  const optionId = (id: string) => `${list}-${id}`;

  // biome-ignore lint/correctness/useExhaustiveDependencies: each move of the selection may need the list to move
  useEffect(() => {
    if (byKey.current) {
      shown.current?.querySelector("[aria-selected='true']")?.scrollIntoView({ block: "nearest" });
    }
  }, [at]);

  const choose = (item: Item | undefined) => {
    if (item && !item.why) item.onChoose();
  };
  const go = (to: number) => {
    byKey.current = true;
    setActive(items.at(to % items.length)?.id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd, value } = event.currentTarget;
    const atEnd = selectionStart === value.length && selectionEnd === value.length;
    const handled = () => {
      switch (event.key) {
        case "ArrowDown":
          return go(at + 1);
        case "ArrowUp":
          return go(at - 1);
        case "Enter":
          return choose(chosen);
        case "ArrowRight":
          return atEnd && chosen?.onMore ? chosen.onMore() : false;
        case "ArrowLeft":
        case "Backspace":
          return value === "" && onBack ? onBack() : false;
        default:
          return false;
      }
    };
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (handled() !== false) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  return (
    <>
      <input
        className="palette-input"
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={items.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={chosen && optionId(chosen.id)}
        placeholder={placeholder}
        value={query}
        onChange={(event) => {
          onQuery(event.target.value);
          byKey.current = true;
          setActive(undefined);
        }}
        onKeyDown={onKeyDown}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        autoFocus={autoFocus}
      />
      <div className="palette-list" id={list} role="listbox" aria-label={label} ref={shown}>
        {groupBy(items, (item) => item.group).map(([group, members]) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options, which has no element of its own here
          <div key={group} role="group" aria-label={group}>
            <div className="palette-group" aria-hidden>
              {group}
            </div>
            {members.map((item) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the option
              <div
                key={item.id}
                id={optionId(item.id)}
                className="palette-option"
                role="option"
                aria-selected={item === chosen}
                aria-disabled={item.why !== undefined || undefined}
                onMouseMove={() => {
                  byKey.current = false;
                  setActive(item.id);
                }}
                onClick={() => choose(item)}
              >
                <item.icon size={16} aria-hidden />
                <span className="palette-label">
                  <span className="cut">{item.label}</span>
                  {item.why && <span className="palette-why">{item.why}</span>}
                </span>
                {item.detail && <span className="palette-detail">{item.detail}</span>}
                {item.onMore && (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow key does it
                  // biome-ignore lint/a11y/noStaticElementInteractions: as above
                  <span
                    className="palette-more"
                    title={t.palette.actionsOf(item.label)}
                    onClick={(event) => {
                      event.stopPropagation();
                      item.onMore?.();
                    }}
                  >
                    <ChevronRight size={16} aria-hidden />
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      {children}
      <span className="unseen" role="status">
        {query.trim() && t.palette.results(items.length)}
      </span>
    </>
  );
}
