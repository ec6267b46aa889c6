/** The fonts of terminals. None is loaded from the server: one is used where the visitor's machine has it. */

/** The server's names for them, and the names under which machines know them. */
export const TERMINAL_FONTS = {
  "ibm-plex-mono": "IBM Plex Mono",
  "fira-code": "Fira Code",
  "source-code-pro": "Source Code Pro",
  "jetbrains-mono": "JetBrains Mono",
  "geist-mono": "Geist Mono",
} as const;

export type TerminalFont = keyof typeof TERMINAL_FONTS;

export const isTerminalFont = (name: string): name is TerminalFont => Object.hasOwn(TERMINAL_FONTS, name);

/** The family for CSS and xterm.js; behind the chosen font stands the usual one. */
export function terminalFontFamily(name: string | undefined, usual: string): string {
  return name && isTerminalFont(name) ? `"${TERMINAL_FONTS[name]}", ${usual}` : usual;
}

const SAMPLE = "mmMWwiIl10@#";

/** Whether this machine has the font: then a text has another width with it than with each of two very different ones. */
export function isInstalled(name: TerminalFont): boolean {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return false;
  const width = (family: string) => {
    context.font = `32px ${family}`;
    return context.measureText(SAMPLE).width;
  };
  return ["monospace", "serif"].every(
    (other) => width(`"${TERMINAL_FONTS[name]}", ${other}`) !== width(other),
  );
}
