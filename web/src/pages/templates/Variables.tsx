/**
 * The variables of the active version. Values are part of a version, so new ones make a new version of the same files,
 * whose import one watches here before it becomes the active one.
 */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX, SlidersHorizontal } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { templates, templateVersions } from "@/api/endpoints";
import { useImportLog } from "@/api/logs";
import { templatesQuery, templateVersionQuery } from "@/api/queries";
import { templateQuery, variablesQuery, versionsQuery } from "@/api/templateQueries";
import type { Template, TemplateVariable, TemplateVersion } from "@/api/types";
import { useT } from "@/i18n";
import { templateVariablesRoute } from "@/routes/template";
import { Button } from "@/ui/Button";
import { Check, FieldFrame } from "@/ui/Field";
import { LogView } from "@/ui/log/LogView";
import { Empty, ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { JobState } from "./JobState";
import { EditorsOnly, Part } from "./Part";
import { useTemplate } from "./useTemplate";

interface InputProps {
  variable: TemplateVariable;
  value: string | undefined;
  onChange: (value: string) => void;
}

function Variable({ variable, value, onChange }: InputProps) {
  const t = useT();
  const words = t.template.variables;
  const hint = [
    variable.description,
    variable.sensitive
      ? words.sensitive
      : variable.default_value
        ? words.defaultValue(variable.default_value)
        : "",
  ]
    .filter(Boolean)
    .join(" ");
  if (variable.type === "bool" && !variable.sensitive) {
    const on = (value ?? variable.value) === "true";
    return (
      <Check label={variable.name} hint={hint} checked={on} onChange={(next) => onChange(String(next))} />
    );
  }
  return (
    <FieldFrame
      label={
        <>
          <code>{variable.name}</code> <span className="muted small">{variable.type}</span>
        </>
      }
      hint={hint}
    >
      {(control) => (
        <input
          {...control}
          className="input"
          type={variable.sensitive ? "password" : "text"}
          inputMode={variable.type === "number" ? "decimal" : undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={variable.sensitive ? words.unchanged : ""}
          value={value ?? variable.value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FieldFrame>
  );
}

interface FormProps {
  template: Template;
  version: TemplateVersion;
  variables: TemplateVariable[];
}

function Form({ template, version, variables }: FormProps) {
  const t = useT();
  const words = t.template.variables;
  const client = useQueryClient();
  const navigate = templateVariablesRoute.useNavigate();
  const [values, setValues] = useState<Record<string, string>>({});
  // What is not sent stays as it is in the active version, secrets among it.
  const changed = variables.filter(({ name, value }) => values[name] !== undefined && values[name] !== value);
  const create = useMutation({
    mutationFn: () =>
      templateVersions.create(template.organization_id, {
        template_id: template.id,
        file_id: version.job.file_id,
        storage_method: "file",
        provisioner: "terraform",
        tags: tagsOf(version),
        message: words.message(changed.map(({ name }) => name).join(", ")),
        user_variable_values: changed.map(({ name }) => ({ name, value: values[name] ?? "" })),
      }),
    onSuccess: async (made) => {
      client.setQueryData(templateVersionQuery(made.id).queryKey, made);
      void client.invalidateQueries({ queryKey: versionsQuery(template.id).queryKey });
      await navigate({ search: { version: made.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed.length > 0 && !create.isPending) create.mutate();
  };
  return (
    <form className="form" onSubmit={submit}>
      {variables.map((variable) => (
        <Variable
          key={variable.name}
          variable={variable}
          value={values[variable.name]}
          onChange={(value) => setValues((old) => ({ ...old, [variable.name]: value }))}
        />
      ))}
      {create.error && <ErrorNote error={create.error} />}
      <Button
        type="submit"
        look="primary"
        busy={create.isPending}
        why={changed.length === 0 ? words.nothingChanged : undefined}
      >
        {words.submit}
      </Button>
    </form>
  );
}

/** The tags that were given; the server adds who may run the job by itself. */
function tagsOf(version: TemplateVersion): Record<string, string> {
  return Object.fromEntries(Object.entries(version.job.tags).filter(([key]) => key !== "owner"));
}

/** The import of a version that was made here, and the step that follows it. */
function Import({ template, id }: { template: Template; id: string }) {
  const t = useT();
  const words = t.template.variables;
  const client = useQueryClient();
  const navigate = templateVariablesRoute.useNavigate();
  const { data: version, error } = useQuery(templateVersionQuery(id));
  const log = useImportLog(id);
  const { line } = templateVariablesRoute.useSearch();
  const ended = log.state === "ended";
  useEffect(() => {
    if (ended) void client.invalidateQueries({ queryKey: templateVersionQuery(id).queryKey });
  }, [client, ended, id]);
  const promote = useMutation({
    mutationFn: () => templates.promote(template.id, id),
    onSuccess: async () => {
      await navigate({ search: {} });
      void client.invalidateQueries({ queryKey: templatesQuery.queryKey });
      await client.invalidateQueries({ queryKey: templateQuery(template.name).queryKey });
    },
  });
  if (error) return <ErrorNote error={error} />;
  if (!version) return <Skeleton rows={4} />;
  const { status } = version.job;
  const active = template.active_version_id === id;
  return (
    <div className="import">
      <div className="import-head">
        <p>
          {words.importOf} <code>{version.name}</code>
        </p>
        <JobState status={status} />
      </div>
      {status === "failed" && (
        <Note icon={CircleX} tone="failed">
          <p className="note-title">{version.job.error || words.failed}</p>
          <p>{words.failedNext}</p>
        </Note>
      )}
      {status === "succeeded" && !active && (
        <Note icon={CircleCheck}>
          <p className="note-title">{words.ready}</p>
          <p>{words.readyNext}</p>
        </Note>
      )}
      {promote.error && <ErrorNote error={promote.error} />}
      <div className="form-actions">
        {status === "succeeded" && !active && (
          <Button look="primary" busy={promote.isPending} onClick={() => promote.mutate()}>
            {t.template.versions.promote}
          </Button>
        )}
        <Button onClick={() => void navigate({ search: {} })}>{words.back}</Button>
      </div>
      <LogView
        log={log}
        name={`${template.name}, ${version.name}`}
        line={line}
        onLine={(next) => void navigate({ search: { version: id, line: next }, replace: true })}
      />
    </div>
  );
}

function Active({ template }: { template: Template }) {
  const t = useT();
  const version = useQuery(templateVersionQuery(template.active_version_id));
  const variables = useQuery(variablesQuery(template.active_version_id));
  const error = version.error ?? variables.error;
  if (error) {
    const retry = () => void Promise.all([version.refetch(), variables.refetch()]);
    return <ErrorNote error={error} onRetry={retry} />;
  }
  if (!version.data || !variables.data) return <Skeleton rows={4} />;
  if (variables.data.length === 0) {
    return (
      <Empty icon={SlidersHorizontal} title={t.template.variables.none}>
        <p>{t.template.variables.noneText}</p>
      </Empty>
    );
  }
  return <Form key={version.data.id} template={template} version={version.data} variables={variables.data} />;
}

export function Variables() {
  const t = useT();
  const template = useTemplate();
  const { version } = templateVariablesRoute.useSearch();
  return (
    <Part template={template} title={t.template.pages.variables} lead={t.template.variables.lead}>
      <EditorsOnly template={template}>
        {version ? <Import key={version} template={template} id={version} /> : <Active template={template} />}
      </EditorsOnly>
    </Part>
  );
}
