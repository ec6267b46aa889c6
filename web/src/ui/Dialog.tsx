/** A dialog above the page. It takes the focus, gives it back, and closes with Escape. */

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type FormEvent, type ReactNode, useState } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { Field } from "./Field";
import { ErrorNote } from "./Notes";
import "./dialog.css";

/** To the first field, else to the dialog: on the button that closes, the first Escape would only close its tooltip. */
function focusInside(event: Event) {
  event.preventDefault();
  const dialog = event.currentTarget as HTMLElement;
  if (dialog.contains(document.activeElement)) return;
  (dialog.querySelector<HTMLElement>("input, select, textarea") ?? dialog).focus();
}

interface DialogProps {
  title: string;
  /** What it is about, read with the title. */
  lead?: ReactNode;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function Dialog({ title, lead, open, onClose, children }: DialogProps) {
  const t = useT();
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="scrim" />
        <Radix.Content
          className="dialog"
          onOpenAutoFocus={focusInside}
          {...(lead ? {} : { "aria-describedby": undefined })}
        >
          <div className="dialog-head">
            <Radix.Title asChild>
              <h2>{title}</h2>
            </Radix.Title>
          </div>
          {lead && (
            <Radix.Description asChild>
              <div className="dialog-lead">{lead}</div>
            </Radix.Description>
          )}
          {children}
          {/* Last, so that the dialog's own first control takes the focus. */}
          <span className="dialog-close">
            <Radix.Close asChild>
              <Button look="quiet" icon={X} label={t.common.close} />
            </Radix.Close>
          </span>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmProps {
  title: string;
  /** What will happen, and what will be lost. */
  lead: ReactNode;
  /** The verb on the button. */
  action: string;
  /** To be typed before the button works: for what destroys. */
  name?: string;
  danger?: boolean;
  open: boolean;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** Choices that the action takes with it. */
  children?: ReactNode;
}

/** Asks before something is done that cannot be taken back. */
export function Confirm({ name, danger, busy, error, onConfirm, children, action, ...dialog }: ConfirmProps) {
  const t = useT();
  const [typed, setTyped] = useState("");
  const why = name !== undefined && typed.trim() !== name ? t.common.typeName(name) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!why && !busy) onConfirm();
  };
  return (
    <Dialog {...dialog}>
      <form className="dialog-form" onSubmit={submit}>
        {children}
        {name !== undefined && (
          <Field
            label={t.common.typeName(name)}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoFocus
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {error ? <ErrorNote error={error} /> : null}
        <div className="dialog-actions">
          <Button onClick={dialog.onClose}>{t.common.cancel}</Button>
          <Button type="submit" look={danger ? "danger" : "primary"} busy={busy} why={why}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
