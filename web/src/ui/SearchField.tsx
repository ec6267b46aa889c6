/** A search field in the server's query language that offers keys and values while one types. */

import { SearchIcon, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { type SearchKey, type Suggestion, suggest, take } from "@/lib/searchTerms";
import { Button } from "./Button";
import "./input.css";
import "./search-field.css";

/** How long after the last key a search begins. */
const PAUSE_MS = 250;
const MOST = 12;

interface Props {
  /** What is being searched, and the field's name. */
  label: string;
  /** What the language can do, for those who have typed nothing yet. */
  hint: string;
  clear: string;
  /** The name of the list of suggestions. */
  suggestions: string;
  /** The search as it stands in the address. */
  value: string;
  keys: readonly SearchKey[];
  onSearch: (text: string) => void;
}

export function SearchField({ label, hint, clear, suggestions, value, keys, onSearch }: Props) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const [caret, setCaret] = useState(value.length);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  // The address is the truth: a link or the back button changes the field.
  if (value !== sent) {
    setSent(value);
    if (value !== text.trim()) setText(value);
  }

  useEffect(() => {
    if (text.trim() === sent) return;
    // A key without its value is no search yet.
    if (text.trimEnd().endsWith(":")) return;
    const timer = window.setTimeout(() => {
      setSent(text.trim());
      onSearch(text.trim());
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, sent, onSearch]);

  const offered = open ? suggest(text, caret, keys).slice(0, MOST) : [];
  const shown = offered.length > 0;
  const at = active < offered.length ? active : -1;

  const change = (next: string, where: number) => {
    setText(next);
    setCaret(where);
    setActive(-1);
    setOpen(true);
  };

  const choose = (suggestion: Suggestion) => {
    const next = take(text, caret, suggestion);
    change(next.text, next.caret);
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(next.caret, next.caret);
    });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = offered[at];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && (shown || !open)) {
      event.preventDefault();
      setOpen(true);
      const count = offered.length + 1;
      if (shown) setActive(((at + 1 + step + count) % count) - 1);
    } else if ((event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) && chosen) {
      event.preventDefault();
      choose(chosen);
    } else if (event.key === "Enter") {
      setOpen(false);
      setSent(text.trim());
      onSearch(text.trim());
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      setOpen(false);
      setActive(-1);
    }
  };

  return (
    <div className="search-field">
      <SearchIcon size={16} aria-hidden />
      <input
        ref={input}
        type="text"
        role="combobox"
        className="input"
        value={text}
        aria-label={label}
        aria-describedby={`${id}-hint`}
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        placeholder={label}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        onChange={(event) => change(event.target.value, event.target.selectionStart ?? 0)}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
        onKeyDown={onKeyDown}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
      />
      {text !== "" && (
        <Button
          look="quiet"
          icon={X}
          label={clear}
          onClick={() => {
            change("", 0);
            input.current?.focus();
          }}
        />
      )}
      <p className="unseen" id={`${id}-hint`}>
        {hint}
      </p>
      <div className="search-list" hidden={!shown}>
        <div role="listbox" id={`${id}-list`} aria-label={suggestions}>
          {offered.map((suggestion, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
            <div
              key={suggestion.insert}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              className="search-option"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(suggestion)}
            >
              <code>{suggestion.insert}</code>
              {suggestion.hint && <span className="muted cut">{suggestion.hint}</span>}
            </div>
          ))}
        </div>
        <p className="search-help" aria-hidden>
          {hint}
        </p>
      </div>
    </div>
  );
}
