/** Asks for the values of variables that a template declares. */

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { variablesQuery } from "@/api/templateQueries";
import type { TemplateVariable, VariableValue } from "@/api/types";
import { useEditorI18n } from "@/i18n/editor";
import { Button } from "@/ui/Button";
import { Field, Select } from "@/ui/Field";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";

interface FieldProps {
  variable: TemplateVariable;
  value: string | undefined;
  onChange: (value: string) => void;
}

/** Types whose values are written as they are; the others are expressions: `crates/provisioner/src/variables.rs`. */
const PLAIN = new Set(["string", "number", "bool"]);

function VariableField({ variable, value, onChange }: FieldProps) {
  const { t } = useEditorI18n();
  const hint = [
    variable.description,
    variable.sensitive ? t.editor.variables.sensitive : "",
    PLAIN.has(variable.type) ? "" : t.editor.variables.expression(variable.type),
  ]
    .filter(Boolean)
    .join(" ");
  if (variable.type === "bool") {
    return (
      <Select
        label={variable.name}
        hint={hint}
        value={value ?? variable.default_value}
        required={variable.required}
        options={[
          ...(value === undefined && variable.required ? [["", t.create.choose] as const] : []),
          ["true", t.common.yes],
          ["false", t.common.no],
        ]}
        onPick={onChange}
      />
    );
  }
  return (
    <Field
      label={variable.name}
      hint={hint}
      type={variable.sensitive ? "password" : variable.type === "number" ? "number" : "text"}
      step="any"
      value={value ?? ""}
      placeholder={variable.required ? undefined : variable.default_value}
      required={variable.required}
      autoComplete={variable.sensitive ? "new-password" : "off"}
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

interface Props {
  /** The version whose import said what is needed. */
  version: string;
  busy: boolean;
  onSubmit: (values: VariableValue[]) => void;
}

export function VariablesForm({ version, busy, onSubmit }: Props) {
  const { t } = useEditorI18n();
  const { data, error, refetch } = useQuery(variablesQuery(version));
  const [values, setValues] = useState<Record<string, string>>({});
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={3} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    onSubmit(
      Object.entries(values)
        .filter(([name, value]) => value !== "" || data.some((each) => each.name === name && each.required))
        .map(([name, value]) => ({ name, value })),
    );
  };
  const field = (variable: TemplateVariable) => (
    <VariableField
      key={variable.name}
      variable={variable}
      value={values[variable.name]}
      onChange={(value) => setValues((old) => ({ ...old, [variable.name]: value }))}
    />
  );
  const optional = data.filter((variable) => !variable.required);
  return (
    <form className="form variables" onSubmit={submit}>
      <Note icon={KeyRound} tone="waiting">
        <p className="note-title">{t.editor.variables.title}</p>
        <p>{t.editor.variables.lead}</p>
      </Note>
      {data.filter((variable) => variable.required).map(field)}
      {optional.length > 0 && (
        <details className="variables-more">
          <summary>{t.editor.variables.more}</summary>
          <div className="form">{optional.map(field)}</div>
        </details>
      )}
      <Button type="submit" look="primary" busy={busy}>
        {t.editor.variables.submit}
      </Button>
    </form>
  );
}
