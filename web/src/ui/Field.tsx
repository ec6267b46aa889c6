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

type SelectProps<Value extends string> = Frame &
  Omit<ComponentProps<"select">, "children" | "value" | "onChange"> & {
    value: Value;
    /** The words for each value, in the order in which they are offered. */
    options: readonly (readonly [Value, string])[];
    onPick: (value: Value) => void;
  };

/** One of a few values, by the platform's own list. */
export function Select<Value extends string>({
  label,
  hint,
  error,
  optional,
  options,
  onPick,
  ...select
}: SelectProps<Value>) {
  return (
    <FieldFrame label={label} hint={hint} error={error} {...(optional ? { optional } : {})}>
      {(control) => (
        <select
          className="input"
          {...select}
          {...control}
          onChange={(event) => onPick(event.target.value as Value)}
        >
          {options.map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  );
}

interface CheckProps {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

/** Something that is on or off. */
export function Check({ label, hint, checked, disabled, onChange }: CheckProps) {
  const id = useId();
  return (
    <div className="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <div id={`${id}-hint`} className="field-hint">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}
