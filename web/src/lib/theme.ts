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

/** How an account names a theme: stock's names, of which some are variants of light and dark for the colour-blind. */
export function themeFromAccount(preference: string | undefined): Theme | undefined {
  if (!preference) return undefined;
  if (preference.startsWith("light")) return "light";
  if (preference.startsWith("dark")) return "dark";
  return preference === "auto" ? "system" : undefined;
}

export const themeToAccount = (theme: Theme) => (theme === "system" ? "auto" : theme);

/** What was chosen. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => stored.get() ?? "system");

/** What is shown. */
export const useShownTheme = () =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme);
