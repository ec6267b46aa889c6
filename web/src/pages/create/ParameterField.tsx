/** One parameter of a template, as the control that its form type asks for. */

import { TriangleAlert, X } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import type { TemplateParameter } from "@/api/types";
import { useT } from "@/i18n";
import { controlOf, readList, writeList } from "@/lib/parameters";
import { Button } from "@/ui/Button";
import { type Control, FieldFrame } from "@/ui/Field";
import { Icon } from "@/ui/Icon";
import { Note } from "@/ui/Notes";
import "./parameters.css";

interface Props {
  parameter: TemplateParameter;
  value: string;
  error?: string | undefined;
  /** Where the value comes from, beside the name. */
  mark?: string | undefined;
  /** A preset has set it, so it cannot be changed here. */
  locked?: boolean;
  onChange: (value: string) => void;
}

type InputProps = Pick<Props, "parameter" | "value" | "onChange"> & { control: Control; locked: boolean };

const titleOf = (parameter: TemplateParameter) => parameter.display_name || parameter.name;

/** More choices than these get a field that narrows them. */
const MANY = 10;

function Dropdown({ parameter, value, onChange, control, locked }: InputProps) {
  const t = useT();
  return (
    <select
      {...control}
      className="input"
      value={value}
      disabled={locked}
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

function Choices({ parameter, value, onChange, control, locked }: InputProps) {
  const t = useT();
  const [filter, setFilter] = useState("");
  const several = controlOf(parameter) === "multi-select";
  const chosen = several ? readList(value) : [value];
  const { options } = parameter;
  const words = filter.trim().toLowerCase();
  const shown = options.filter(
    (option) => !words || `${option.name} ${option.description}`.toLowerCase().includes(words),
  );
  const toggle = (changed: string, on: boolean) =>
    writeList(
      options.map((each) => each.value).filter((each) => (each === changed ? on : chosen.includes(each))),
    );
  const { id, "aria-describedby": described } = control;
  return (
    <fieldset
      className="choices"
      aria-label={titleOf(parameter)}
      aria-describedby={described}
      disabled={locked}
    >
      {options.length > MANY && (
        <input
          type="text"
          className="input"
          placeholder={t.create.narrow}
          aria-label={t.create.narrow}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <div className={options.length > MANY ? "choices-many" : "choices-few"}>
        {shown.map((option) => (
          <label key={option.value} className="choice">
            <input
              type={several ? "checkbox" : "radio"}
              name={id}
              id={option === options[0] ? id : undefined}
              checked={chosen.includes(option.value)}
              onChange={(event) =>
                onChange(several ? toggle(option.value, event.target.checked) : option.value)
              }
            />
            {option.icon && <Icon icon={option.icon} size={16} />}
            <span>
              {option.name}
              {option.description && <span className="muted small">{option.description}</span>}
            </span>
          </label>
        ))}
        {shown.length === 0 && <p className="muted small">{t.create.noOption}</p>}
      </div>
    </fieldset>
  );
}

/** A list of texts that one writes: each becomes a tag with Enter, and goes again with its button. */
function Tags({ parameter, value, onChange, control, locked }: InputProps) {
  const t = useT();
  const [text, setText] = useState("");
  const list = readList(value);
  const add = () => {
    const tag = text.trim();
    if (tag && !list.includes(tag)) onChange(writeList([...list, tag]));
    setText("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      // The form is sent by an Enter in an empty field only.
      if (text.trim()) event.preventDefault();
      add();
    } else if (event.key === "Backspace" && text === "" && list.length > 0) {
      onChange(writeList(list.slice(0, -1)));
    }
  };
  return (
    <div className="tags">
      {list.length > 0 && (
        <ul className="tags-list" aria-label={titleOf(parameter)}>
          {list.map((tag) => (
            <li key={tag} className="tags-item">
              <span>{tag}</span>
              {!locked && (
                <Button
                  look="quiet"
                  icon={X}
                  label={t.create.removeTag(tag)}
                  onClick={() => onChange(writeList(list.filter((each) => each !== tag)))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <input
        {...control}
        className="input"
        value={text}
        disabled={locked}
        placeholder={t.create.addTag}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={add}
      />
    </div>
  );
}

function OnOff({ parameter, value, onChange, control, locked }: InputProps) {
  const t = useT();
  const on = value === "true";
  const isSwitch = controlOf(parameter) === "switch";
  return (
    <label className="choice">
      <input
        {...control}
        type="checkbox"
        role={isSwitch ? "switch" : undefined}
        className={isSwitch ? "switch" : undefined}
        checked={on}
        disabled={locked}
        onChange={(event) => onChange(String(event.target.checked))}
      />
      {on ? t.common.yes : t.common.no}
    </label>
  );
}

function Slider({ parameter, value, onChange, control, locked }: InputProps) {
  const { validation_min: min = 0, validation_max: max = 0 } = parameter;
  return (
    <div className="slider">
      <span className="muted small tabular">{min}</span>
      <input
        {...control}
        type="range"
        min={min}
        max={max}
        step={1}
        value={Number(value)}
        disabled={locked}
        onChange={(event) => onChange(event.target.value)}
      />
      <span className="muted small tabular">{max}</span>
      <output className="tabular" htmlFor={control.id}>
        {value}
      </output>
    </div>
  );
}

function Text({ parameter, value, onChange, control, locked }: InputProps) {
  return (
    <input
      {...control}
      className="input"
      type="text"
      inputMode={parameter.type === "number" ? "decimal" : undefined}
      value={value}
      disabled={locked}
      aria-required={parameter.required || undefined}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function LongText({ parameter, value, onChange, control, locked }: InputProps) {
  return (
    <textarea
      {...control}
      className="input"
      value={value}
      disabled={locked}
      aria-required={parameter.required || undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

const INPUTS = {
  dropdown: Dropdown,
  radio: Choices,
  "multi-select": Choices,
  "tag-select": Tags,
  checkbox: OnOff,
  switch: OnOff,
  slider: Slider,
  input: Text,
  textarea: LongText,
};

export function ParameterField({ parameter, value, error, mark, locked = false, onChange }: Props) {
  const t = useT();
  const kind = controlOf(parameter);
  const title = titleOf(parameter);
  if (kind === "error") {
    return (
      <Note icon={TriangleAlert} tone="failed">
        <p className="note-title">{title}</p>
        <p>{parameter.description_plaintext || parameter.description || t.create.parameterError}</p>
      </Note>
    );
  }
  const { validation_min: min, validation_max: max, validation_monotonic: monotonic } = parameter;
  const chosen = kind === "dropdown" && parameter.options.find((option) => option.value === value);
  const hints = [
    parameter.description_plaintext || parameter.description,
    chosen ? chosen.description : "",
    kind === "input" && (min !== undefined || max !== undefined) ? t.create.numberRange(min, max) : "",
    parameter.validation_regex ? (parameter.validation_error ?? "") : "",
    kind === "tag-select" ? t.create.tagHint : "",
    monotonic === "increasing" ? t.create.onlyUp : monotonic === "decreasing" ? t.create.onlyDown : "",
  ].filter(Boolean);
  const lasting = parameter.ephemeral ? t.create.ephemeral : parameter.mutable ? "" : t.create.immutable;
  const Input = INPUTS[kind];
  return (
    <FieldFrame
      label={
        <span className="parameter-name">
          {parameter.icon && <Icon icon={parameter.icon} size={16} />}
          {title}
          {lasting && <span className="muted small">{lasting}</span>}
          {mark && <span className="origin small">{mark}</span>}
        </span>
      }
      hint={hints.join(" ")}
      error={error}
    >
      {(control) => (
        <Input parameter={parameter} value={value} onChange={onChange} control={control} locked={locked} />
      )}
    </FieldFrame>
  );
}
