/** How this browser's terminals look and behave. The font's family is the account's, and kept by the server. */

import { useSyncExternalStore } from "react";
import { remembered } from "./remembered";

export const FONT_SIZES = ["11", "12", "13", "14", "16", "18", "20", "24"] as const;
export type FontSize = (typeof FONT_SIZES)[number];
const USUAL_SIZE: FontSize = "13";

const size = remembered<FontSize>("terminalFontSize", (value): value is FontSize =>
  (FONT_SIZES as readonly string[]).includes(value),
);
const copy = remembered<"on">("terminalCopy", (value): value is "on" => value === "on");
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
const changed = () => {
  for (const listener of listeners) listener();
};

export const copyOnSelect = () => copy.get() === "on";

export function setFontSize(value: FontSize) {
  size.set(value);
  changed();
}

export function setCopyOnSelect(on: boolean) {
  copy.set(on ? "on" : undefined);
  changed();
}

export const useFontSize = (): FontSize => useSyncExternalStore(subscribe, () => size.get() ?? USUAL_SIZE);
export const useCopyOnSelect = (): boolean => useSyncExternalStore(subscribe, copyOnSelect);
