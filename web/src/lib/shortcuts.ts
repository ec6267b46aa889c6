/** The keys that work on all pages. */

import { useEffect } from "react";
import { isMac } from "./media";

/** How the key of the palette is written. */
export const PALETTE_KEY = isMac ? "⌘K" : "Ctrl K";

const isIn = (target: EventTarget | null, selector: string) =>
  target instanceof Element && target.closest(selector) !== null;

/** In a terminal, keys belong to the program in it: Ctrl-K there cuts a line. */
function isPaletteKey(event: KeyboardEvent): boolean {
  if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey) return false;
  if (isMac) return event.metaKey && !event.ctrlKey;
  return event.ctrlKey && !event.metaKey && !isIn(event.target, ".xterm");
}

const isTyping = (target: EventTarget | null) =>
  isIn(target, "input, textarea, select, [contenteditable], .xterm, [role='dialog'], [role='menu']");

export function useShortcuts(onPalette: () => void, onList: () => void) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isPaletteKey(event)) {
        event.preventDefault();
        if (!event.repeat) onPalette();
      } else if (event.key === "?" && !event.ctrlKey && !event.metaKey && !isTyping(event.target)) {
        event.preventDefault();
        onList();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onPalette, onList]);
}
