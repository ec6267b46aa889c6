/** One parameter of a template, as the control that its form type asks for. */

import type { TemplateParameter } from "@/api/types";
import { useT } from "@/i18n";
import { readList, writeList } from "@/lib/parameters";
import { type Control, FieldFrame } from "@/ui/Field";

interface Props {
  parameter: TemplateParameter;
  value: string;
  error?: string | undefined;
  onChange: (value: string) => void;
}

type InputProps = Omit<Props, "error"> & { control: Control };

/** Choices stand side by side while they can be seen at once. */
const FEW = 4;

function Choices({ parameter, value, onChange, control }: InputProps) {
  const t = useT();
  const list = parameter.type === "list(string)";
  const chosen = list ? readList(value) : [value];
  const few = parameter.options.length <= FEW && parameter.form_type !== "dropdown";
  if (!list && !few) {
    return (
      <select
        {...control}
        className="input"
        value={value}
        required
        onChange={(event) => onChange(event.target.value)}
      >
        {!parameter.options.some((option) => option.value === value) && (
          <option value="">{t.create.choose}</option>
        )}
        {parameter.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    );
  }
  const toggle = (option: string, on: boolean) =>
    writeList(
      parameter.options
        .map((each) => each.value)
        .filter((each) => (each === option ? on : chosen.includes(each))),
    );
  return (
    <fieldset className="choices" aria-label={parameter.display_name || parameter.name}>
      {parameter.options.map((option, index) => (
        <label key={option.value} className="choice">
          <input
            type={list ? "checkbox" : "radio"}
            name={parameter.name}
            id={index === 0 ? control.id : undefined}
            checked={chosen.includes(option.value)}
            onChange={(event) => onChange(list ? toggle(option.value, event.target.checked) : option.value)}
          />
          <span>
            {option.name}
            {option.description && <span className="muted small">{option.description}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Input({ parameter, value, onChange, control }: InputProps) {
  const t = useT();
  if (parameter.options.length > 0) return <Choices {...{ parameter, value, onChange, control }} />;
  if (parameter.type === "bool") {
    return (
      <label className="choice">
        <input
          {...control}
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onChange(String(event.target.checked))}
        />
        {value === "true" ? t.common.yes : t.common.no}
      </label>
    );
  }
  if (parameter.type === "list(string)") {
    return (
      <textarea
        {...control}
        className="input"
        value={readList(value).join("\n")}
        onChange={(event) => onChange(writeList(event.target.value.split("\n")))}
      />
    );
  }
  if (parameter.form_type === "textarea") {
    return (
      <textarea
        {...control}
        className="input"
        value={value}
        required={parameter.required}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  }
  return (
    <input
      {...control}
      className="input"
      type={parameter.type === "number" ? "number" : "text"}
      step="any"
      min={parameter.validation_min}
      max={parameter.validation_max}
      value={value}
      required={parameter.required}
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

export function ParameterField({ parameter, value, error, onChange }: Props) {
  const t = useT();
  const { validation_min: min, validation_max: max } = parameter;
  const list = parameter.type === "list(string)" && parameter.options.length === 0;
  const hints = [
    parameter.description_plaintext || parameter.description,
    min !== undefined || max !== undefined ? t.create.numberRange(min, max) : "",
    list ? t.create.listHint : "",
  ].filter(Boolean);
  const mark = parameter.ephemeral ? t.create.ephemeral : parameter.mutable ? "" : t.create.immutable;
  return (
    <FieldFrame
      label={
        <>
          {parameter.display_name || parameter.name}
          {mark && <span className="muted small"> {mark}</span>}
        </>
      }
      hint={hints.join(" ")}
      error={error}
    >
      {(control) => <Input parameter={parameter} value={value} onChange={onChange} control={control} />}
    </FieldFrame>
  );
}
