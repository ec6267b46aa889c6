/** Keys that the keyboards of phones lack. Ctrl holds for the next letter of a small row. */

import { useState } from "react";
import { useT } from "@/i18n";

const KEYS: [label: string, keys: string][] = [
  ["Esc", "\x1b"],
  ["Tab", "\t"],
  ["←", "\x1b[D"],
  ["↑", "\x1b[A"],
  ["↓", "\x1b[B"],
  ["→", "\x1b[C"],
];
const LETTERS = ["C", "D", "L", "R", "U", "W", "Z"];

export function KeyRow({ onKey }: { onKey: (keys: string) => void }) {
  const t = useT();
  const [ctrl, setCtrl] = useState(false);
  const control = (letter: string) => String.fromCharCode(letter.charCodeAt(0) - 64);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a toolbar has no element of its own
    <div className="key-row" role="group" aria-label={t.terminal.keys}>
      <button type="button" aria-pressed={ctrl} onClick={() => setCtrl(!ctrl)}>
        Ctrl
      </button>
      {(ctrl ? LETTERS.map((letter): [string, string] => [letter, control(letter)]) : KEYS).map(
        ([label, keys]) => (
          <button
            type="button"
            key={label}
            onClick={() => {
              setCtrl(false);
              onKey(keys);
            }}
          >
            {label}
          </button>
        ),
      )}
    </div>
  );
}
