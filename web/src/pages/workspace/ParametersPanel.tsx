/** The values of the parameters: those of the latest build, and a new build with others. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { type FormEvent, useState } from "react";
import { builds } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { buildParametersQuery, putWorkspace, templateParametersQuery } from "@/api/queries";
import type { TemplateParameter, Workspace, WorkspaceBuildParameter } from "@/api/types";
import { useT } from "@/i18n";
import { isBusy, type Permissions } from "@/lib/can";
import { fieldError } from "@/lib/fieldError";
import { readList, type Values } from "@/lib/parameters";
import { workspaceRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { ParameterField } from "../create/ParameterField";
import "../create/create.css";

/** A value as its option is called, a list as its entries. */
function inWords(parameter: TemplateParameter, value: string): string {
  const name = (each: string) => parameter.options.find((option) => option.value === each)?.name ?? each;
  const words = parameter.type === "list(string)" ? readList(value).map(name).join(", ") : name(value);
  return words || "–";
}

function Fixed({ parameter, value, why }: { parameter: TemplateParameter; value: string; why: string }) {
  return (
    <div className="field fixed">
      <p className="fixed-name">{parameter.display_name || parameter.name}</p>
      <p className="mono">{inWords(parameter, value)}</p>
      {parameter.description_plaintext && <p className="field-hint">{parameter.description_plaintext}</p>}
      <p className="field-hint">{why}</p>
    </div>
  );
}

interface FormProps {
  workspace: Workspace;
  may: Permissions | undefined;
  parameters: readonly TemplateParameter[];
  kept: readonly WorkspaceBuildParameter[];
}

function Form({ workspace, may, parameters, kept }: FormProps) {
  const t = useT();
  const words = t.workspacePage.parameters;
  const client = useQueryClient();
  const navigate = workspaceRoute.useNavigate();
  const before = (parameter: TemplateParameter) =>
    (parameter.ephemeral ? undefined : kept.find((each) => each.name === parameter.name)?.value) ??
    parameter.default_value;
  const [changed, setChanged] = useState<Values>({});
  const now = (parameter: TemplateParameter) => changed[parameter.name] ?? before(parameter);
  const changes = parameters.filter((parameter) => now(parameter) !== before(parameter));
  const build = useMutation({
    mutationFn: () =>
      builds.create(workspace.id, {
        transition: "start",
        rich_parameter_values: changes.map((parameter) => ({
          name: parameter.name,
          value: now(parameter),
        })),
        // A start may take another version, whose parameters are not these.
        template_version_id: workspace.latest_build.template_version_id,
      }),
    onSuccess: (latest_build) => {
      putWorkspace(client, { ...workspace, latest_build });
      void client.invalidateQueries({ queryKey: ["builds", workspace.id] });
      // The log while it builds, and the terminal after it.
      void navigate({ search: {} });
    },
  });
  const error = build.error instanceof ApiError ? build.error : undefined;
  const atFields = error?.validations.some(({ field }) => parameters.some(({ name }) => name === field));
  const why =
    may?.start === false
      ? t.why.notAllowed
      : workspace.dormant_at
        ? t.why.dormant
        : isBusy(workspace)
          ? t.why.building
          : changes.length === 0
            ? words.unchanged
            : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (why === undefined && !build.isPending) build.mutate();
  };
  const field = (parameter: TemplateParameter) =>
    parameter.mutable && may?.start !== false ? (
      <ParameterField
        key={parameter.name}
        parameter={parameter}
        value={now(parameter)}
        error={fieldError(t, error, parameter.name)}
        onChange={(value) => setChanged((old) => ({ ...old, [parameter.name]: value }))}
      />
    ) : (
      <Fixed
        key={parameter.name}
        parameter={parameter}
        value={now(parameter)}
        why={parameter.mutable ? t.why.notAllowed : words.immutable}
      />
    );
  const lasting = parameters.filter((parameter) => !parameter.ephemeral);
  const once = parameters.filter((parameter) => parameter.ephemeral);
  const editable = parameters.some((parameter) => parameter.mutable);
  const running =
    workspace.latest_build.transition === "start" && workspace.latest_build.status === "running";
  return (
    <form className="panel-text" onSubmit={submit}>
      <h2>{words.lead}</h2>
      {lasting.map(field)}
      {once.length > 0 && (
        <>
          <div>
            <h2>{words.ephemeral}</h2>
            <p className="muted small">{words.ephemeralText}</p>
          </div>
          {once.map(field)}
        </>
      )}
      {build.error && !atFields ? <ErrorNote error={build.error} /> : null}
      {editable && (
        <div className="form-actions">
          <Button type="submit" look="primary" why={why} busy={build.isPending}>
            {build.isPending ? words.building : words.build}
          </Button>
          {changes.length > 0 && <Button onClick={() => setChanged({})}>{words.reset}</Button>}
          <span className="muted small">{running ? words.effect : words.effectStopped}</span>
        </div>
      )}
    </form>
  );
}

export function ParametersPanel({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const { latest_build: build } = workspace;
  const values = useQuery(buildParametersQuery(build.id));
  const definitions = useQuery(templateParametersQuery(build.template_version_id));
  const error = values.error ?? definitions.error;
  if (error && !(values.data && definitions.data)) {
    return (
      <ErrorNote error={error} onRetry={() => void Promise.all([values.refetch(), definitions.refetch()])} />
    );
  }
  if (!values.data || !definitions.data) return <Skeleton rows={4} />;
  if (definitions.data.length === 0) {
    return <Empty icon={SlidersHorizontal} title={t.workspace.noParameters} />;
  }
  return (
    <Form key={build.id} workspace={workspace} may={may} parameters={definitions.data} kept={values.data} />
  );
}
