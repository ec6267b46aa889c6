/** A labelled input with its hint and its error, tied together for assistive technology. */

import { type ComponentProps, type ReactNode, useId } from "react";
import { useT } from "@/i18n";
import "./field.css";
import "./input.css";

interface Frame {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  optional?: boolean;
}

/** What the control has to carry so that label, hint and error are read with it. */
export interface Control {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

export function FieldFrame(props: Frame & { children: (control: Control) => ReactNode }) {
  const t = useT();
  const id = useId();
  const described = [props.hint ? `${id}-hint` : "", props.error ? `${id}-error` : ""]
    .filter(Boolean)
    .join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>
        {props.label}
        {props.optional && <span className="muted small"> {t.common.optional}</span>}
      </label>
      {props.children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": props.error ? true : undefined,
      })}
      {props.hint && (
        <div id={`${id}-hint`} className="field-hint">
          {props.hint}
        </div>
      )}
      {props.error && (
        <p id={`${id}-error`} className="field-error" role="alert">
          {props.error}
        </p>
      )}
    </div>
  );
}

type FieldProps = Frame & Omit<ComponentProps<"input">, "children">;

export function Field({ label, hint, error, optional, ...input }: FieldProps) {
  return (
    <FieldFrame label={label} hint={hint} error={error} {...(optional ? { optional } : {})}>
      {(control) => <input className="input" {...input} {...control} />}
    </FieldFrame>
  );
}
