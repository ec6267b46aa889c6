/** A text to take elsewhere, such as a command, with the button that copies it. */

import { CopyButton } from "./CopyButton";
import "./copy-field.css";

export function CopyField({ text }: { text: string }) {
  return (
    <p className="copy-field">
      <code>{text}</code>
      <CopyButton text={() => text} />
    </p>
  );
}
