/** A text to be copied as a whole: a token, a key. */

import { CopyButton } from "./CopyButton";
import "./secret.css";

export function Secret({ label, text, copy }: { label: string; text: string; copy?: string }) {
  return (
    <section className="secret" aria-label={label}>
      <code>{text}</code>
      <CopyButton text={() => text} {...(copy ? { look: "primary", children: copy } : {})} />
    </section>
  );
}
