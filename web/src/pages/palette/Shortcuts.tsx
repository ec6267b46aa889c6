/** The list of all keys. */

import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { PALETTE_KEY } from "@/lib/shortcuts";
import { Dialog } from "@/ui/Dialog";
import "./shortcuts.css";

function Keys({ title, keys }: { title: string; keys: [ReactNode[], string][] }) {
  return (
    <section className="shortcuts" aria-label={title}>
      <h3>{title}</h3>
      <dl>
        {keys.map(([names, text]) => (
          <div key={text}>
            <dt>
              {names.map((name, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a fixed list
                <kbd key={at}>{name}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const t = useT();
  const { keys } = t.palette;
  return (
    <Dialog title={t.palette.shortcuts} open onClose={onClose}>
      <Keys
        title={keys.everywhere}
        keys={[
          [[PALETTE_KEY], keys.palette],
          [["?"], keys.list],
          [["Esc"], keys.close],
        ]}
      />
      <Keys
        title={keys.inPalette}
        keys={[
          [["↑", "↓"], keys.move],
          [["↵"], keys.choose],
          [["→"], keys.actions],
          [["←", "Esc"], keys.back],
        ]}
      />
      <Keys
        title={keys.inLog}
        keys={[
          [["↵"], keys.next],
          [["⇧ ↵"], keys.previous],
          [["Esc"], keys.clear],
        ]}
      />
      <p className="muted small">
        {keys.terminal} {t.terminal.leave}
      </p>
    </Dialog>
  );
}
