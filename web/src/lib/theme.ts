/** Light, dark, or as the system is. `public/theme.js` applies it before the first paint. */

import { useSyncExternalStore } from "react";
import { remembered } from "./remembered";

export type Theme = "system" | "light" | "dark";

const stored = remembered<"light" | "dark">("theme", (value) => value === "light" || value === "dark");
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function apply() {
  document.documentElement.dataset.theme = stored.get() ?? (systemIsDark.matches ? "dark" : "light");
  for (const listener of listeners) listener();
}

systemIsDark.addEventListener("change", apply);

export function setTheme(theme: Theme) {
  stored.set(theme === "system" ? undefined : theme);
  apply();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** What was chosen. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => stored.get() ?? "system");

/** What is shown. */
export const useShownTheme = () =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme);
