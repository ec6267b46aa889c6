/** A new workspace from one template. The server checks what is asked for; its answers stand at the fields. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { workspaces } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import {
  autofillQuery,
  putWorkspace,
  templateParametersQuery,
  templatesQuery,
  templateVersionQuery,
  workspacesQuery,
} from "@/api/queries";
import type { Template, TemplateParameter } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { freeName, initialValues, type Values } from "@/lib/parameters";
import { duration } from "@/lib/time";
import { useTitle } from "@/lib/title";
import { createWorkspaceRoute, DEFAULT_FILTER } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { NotFound } from "../Fallbacks";
import { ParameterField } from "./ParameterField";
import "./create.css";

/** What will be done, before it is. */
function Summary({ template }: { template: Template }) {
  const { t, language } = useI18n();
  const version = useQuery(templateVersionQuery(template.active_version_id));
  return (
    <aside className="create-side">
      <h2>{t.create.what}</h2>
      <p>{t.create.whatText}</p>
      <p>
        {template.default_ttl_ms > 0
          ? t.create.stopsAfter(duration(language, template.default_ttl_ms))
          : t.create.neverStops}
      </p>
      {version.data && (
        <p className="muted small">
          {t.create.version} <code className="small">{version.data.name}</code>
        </p>
      )}
      <Link to="/workspaces/new" className="small">
        {t.create.changeTemplate}
      </Link>
    </aside>
  );
}

interface FormProps {
  template: Template;
  parameters: TemplateParameter[];
  name: string;
  values: Values;
}

function Form({ template, parameters, ...initial }: FormProps) {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(initial.name);
  const [values, setValues] = useState(initial.values);
  const create = useMutation({
    mutationFn: () =>
      workspaces.create({
        name: name.trim(),
        template_id: template.id,
        rich_parameter_values: parameters.map((parameter) => ({
          name: parameter.name,
          value: values[parameter.name] ?? "",
        })),
      }),
    onSuccess: async (workspace) => {
      putWorkspace(client, workspace);
      void client.invalidateQueries({ queryKey: ["workspaces"] });
      await navigate({
        to: "/@{$owner}/$workspace",
        params: { owner: workspace.owner_name, workspace: workspace.name },
      });
    },
  });
  const error = create.error instanceof ApiError ? create.error : undefined;
  const known = new Set(["name", ...parameters.map((parameter) => parameter.name)]);
  const elsewhere = create.error && !error?.validations.some((validation) => known.has(validation.field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  return (
    <form className="create-form" onSubmit={submit}>
      <Field
        label={t.create.name}
        hint={t.create.nameHint}
        error={error?.field("name")}
        value={name}
        onChange={(event) => setName(event.target.value)}
        onFocus={(event) => event.target.select()}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        required
        maxLength={32}
      />
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={values[parameter.name] ?? ""}
          error={error?.field(parameter.name)}
          onChange={(value) => setValues((old) => ({ ...old, [parameter.name]: value }))}
        />
      ))}
      {elsewhere && <ErrorNote error={create.error} />}
      <Button type="submit" look="primary" busy={create.isPending}>
        {create.isPending ? t.create.submitting : t.create.submit}
      </Button>
    </form>
  );
}

function Loaded({ template }: { template: Template }) {
  const t = useT();
  const search = createWorkspaceRoute.useSearch();
  const parameters = useQuery(templateParametersQuery(template.active_version_id));
  const used = useQuery(autofillQuery(template.id));
  const mine = useQuery(workspacesQuery(DEFAULT_FILTER, 1));
  const title = template.display_name || template.name;
  useTitle(t.create.title(title));
  // Without what was used before, or the names that are taken, the form only proposes less.
  const ready = parameters.data && !used.isPending && !mine.isPending;
  return (
    <main className="page page-narrow" id="content">
      <h1>{t.create.title(title)}</h1>
      {template.deprecated && (
        <Note icon={TriangleAlert} tone="waiting">
          <p className="note-title">{t.create.deprecated}</p>
          {template.deprecation_message && <p>{template.deprecation_message}</p>}
        </Note>
      )}
      <div className="create">
        {parameters.error ? (
          <ErrorNote
            error={parameters.error}
            next={t.create.notReady}
            onRetry={() => void parameters.refetch()}
          />
        ) : ready ? (
          <Form
            template={template}
            parameters={parameters.data}
            values={initialValues(parameters.data, used.data ?? [], search)}
            name={search.name ?? freeName(template.name, mine.data?.workspaces.map(({ name }) => name) ?? [])}
          />
        ) : (
          <Skeleton rows={5} />
        )}
        <Summary template={template} />
      </div>
    </main>
  );
}

export function Create() {
  const params = createWorkspaceRoute.useParams();
  const { data, error, refetch } = useQuery(templatesQuery);
  const template = data?.find((each) => each.name === params.template);
  if (template) return <Loaded key={template.id} template={template} />;
  if (data) return <NotFound />;
  return (
    <main className="page page-narrow" id="content">
      <h1>{params.template}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={5} />}
    </main>
  );
}
