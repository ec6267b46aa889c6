/** Colours of the tokens, in the form that xterm.js takes. */

import type { ITheme } from "@xterm/xterm";

/** The sixteen colours, as xterm.js names them, in the order of the tokens. */
const ANSI_NAMES = ["", "bright"].flatMap((prefix) =>
  ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"].map((name) =>
    prefix ? prefix + name : name.toLowerCase(),
  ),
);

/** A token as "#rrggbb". */
export function colorOf(...names: string[]): string[] {
  const style = getComputedStyle(document.documentElement);
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  return names.map((name) => {
    if (!context) return "#808080";
    context.fillStyle = style.getPropertyValue(name);
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  });
}

export function theme(): ITheme {
  const [background = "", foreground = "", selectionBackground = "", ...ansi] = colorOf(
    "--term-bg",
    "--term-fg",
    "--n6",
    ...ANSI_NAMES.map((_, at) => `--ansi-${at}`),
  );
  return {
    background,
    foreground,
    cursor: foreground,
    cursorAccent: background,
    selectionBackground,
    ...Object.fromEntries(ANSI_NAMES.map((name, at) => [name, ansi[at]])),
  };
}
