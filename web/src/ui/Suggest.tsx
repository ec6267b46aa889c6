/** A text field that offers how to go on. What is offered never has to be taken. */

import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from "react";
import "./input.css";
import "./suggest.css";

/** One offer. */
export interface Suggestion {
  key: string;
  shown: ReactNode;
  hint?: ReactNode;
  /** Why it cannot be taken; it is shown all the same. */
  why?: string | undefined;
}

interface Props extends Omit<ComponentProps<"input">, "children" | "onChange" | "value" | "ref"> {
  value: string;
  /** The text, and where the cursor stands in it. */
  onText: (text: string, cursor: number) => void;
  suggestions: readonly Suggestion[];
  suggestionsLabel: string;
  /** Answers where the cursor goes, if there is more to type. */
  onPick: (index: number) => number | undefined;
}

export function Suggest({ value, onText, suggestions, suggestionsLabel, onPick, ...input }: Props) {
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  /** Where the cursor goes once the picked text stands in the field. */
  const [cursor, setCursor] = useState<number>();
  const shown = open && suggestions.length > 0;
  const at = Math.min(active, suggestions.length - 1);

  useEffect(() => {
    if (cursor === undefined) return;
    field.current?.focus();
    field.current?.setSelectionRange(cursor, cursor);
    setCursor(undefined);
  }, [cursor]);

  const pick = (index: number) => {
    if (suggestions[index]?.why) return;
    const next = onPick(index);
    setActive(-1);
    if (next === undefined) setOpen(false);
    else setCursor(next);
  };
  const move = (step: number) => {
    setOpen(true);
    setActive((old) => {
      const next = Math.min(old, suggestions.length - 1) + step;
      return next >= suggestions.length ? -1 : next < -1 ? suggestions.length - 1 : next;
    });
  };
  const tell = () => {
    const { current } = field;
    if (current) onText(current.value, current.selectionStart ?? current.value.length);
  };

  return (
    <div className="suggest">
      <input
        type="text"
        className="input"
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        {...input}
        ref={field}
        value={value}
        role="combobox"
        aria-expanded={shown}
        aria-controls={shown ? list : undefined}
        aria-autocomplete="list"
        aria-activedescendant={shown && at >= 0 ? `${list}-${at}` : undefined}
        onChange={() => {
          tell();
          setOpen(true);
          setActive(-1);
        }}
        onSelect={tell}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            move(event.key === "ArrowDown" ? 1 : -1);
          } else if (event.key === "Enter" && shown && at >= 0) {
            event.preventDefault();
            pick(at);
          } else if (event.key === "Escape" && shown) {
            // Only the list closes, not the dialog around it.
            event.preventDefault();
            event.stopPropagation();
            setOpen(false);
          }
        }}
      />
      {shown && (
        <div className="suggestions" id={list} role="listbox" aria-label={suggestionsLabel}>
          {suggestions.map((each, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys
            <div
              key={each.key}
              id={`${list}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              aria-disabled={each.why ? true : undefined}
              className="suggestion"
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(index)}
            >
              <span className="suggestion-shown">{each.shown}</span>
              {(each.why ?? each.hint) && <span className="suggestion-hint">{each.why ?? each.hint}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
