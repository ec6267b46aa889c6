/** Searches the screen and the scrollback of a terminal. What it searches with is loaded when it is opened first. */

import type { SearchAddon } from "@xterm/addon-search";
import type { Terminal } from "@xterm/xterm";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";
import { Button } from "../Button";
import { colorOf } from "./colors";
import "../input.css";

const addons = new WeakMap<Terminal, Promise<SearchAddon>>();

/** One for each terminal, for as long as it lives. */
function addonOf(terminal: Terminal): Promise<SearchAddon> {
  const known = addons.get(terminal);
  if (known) return known;
  const loading = import("@xterm/addon-search").then(({ SearchAddon }) => {
    const addon = new SearchAddon();
    terminal.loadAddon(addon);
    return addon;
  });
  addons.set(terminal, loading);
  return loading;
}

function looks() {
  const [matchBackground = "", activeMatchBackground = ""] = colorOf("--mark", "--mark-now");
  return {
    matchBackground,
    activeMatchBackground,
    matchOverviewRuler: matchBackground,
    activeMatchColorOverviewRuler: activeMatchBackground,
  };
}

export function SearchBar({ terminal, onClose }: { terminal: Terminal; onClose: () => void }) {
  const t = useT();
  const words = t.workspacePage.terminal;
  const [query, setQuery] = useState("");
  const [found, setFound] = useState({ at: -1, total: 0 });
  const addon = useRef<SearchAddon>(undefined);

  useEffect(() => {
    let gone = false;
    let stop = () => {};
    void addonOf(terminal).then((loaded) => {
      if (gone) return;
      addon.current = loaded;
      const listening = loaded.onDidChangeResults(({ resultIndex, resultCount }) =>
        setFound({ at: resultIndex, total: resultCount }),
      );
      stop = () => {
        listening.dispose();
        loaded.clearDecorations();
      };
    });
    return () => {
      gone = true;
      stop();
    };
  }, [terminal]);

  const find = (text: string, step: 1 | -1, incremental = false) => {
    void addonOf(terminal).then((loaded) => {
      if (text === "") {
        loaded.clearDecorations();
        setFound({ at: -1, total: 0 });
      } else if (step === 1) loaded.findNext(text, { decorations: looks() });
      else loaded.findPrevious(text, { incremental, decorations: looks() });
    });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") find(query, event.shiftKey ? 1 : -1);
    if (event.key === "Escape") {
      onClose();
      event.stopPropagation();
    }
  };
  return (
    <search className="terminal-search">
      <input
        type="text"
        className="input"
        autoFocus
        value={query}
        aria-label={words.search}
        placeholder={words.search}
        spellCheck={false}
        onChange={(event) => {
          setQuery(event.target.value);
          // From the end on: what one looks for in a terminal was mostly printed lately.
          find(event.target.value, -1, true);
        }}
        onKeyDown={onKey}
      />
      <span className="terminal-found" role="status">
        {query === "" ? "" : found.total > 0 ? words.found(found.at + 1, found.total) : words.notFound}
      </span>
      <Button look="quiet" icon={ChevronUp} label={words.previous} onClick={() => find(query, -1)} />
      <Button look="quiet" icon={ChevronDown} label={words.next} onClick={() => find(query, 1)} />
      <Button look="quiet" icon={X} label={t.common.close} onClick={onClose} />
    </search>
  );
}
