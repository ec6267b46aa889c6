/**
 * A new workspace from one template: what it begins with (the address, a workspace to duplicate, what was used before,
 * presets), the form, and the request.
 */

import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from "@tanstack/react-query";
import { Copy, Info, LayoutTemplate, Lock, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { workspaces } from "@/api/endpoints";
import { isStatus } from "@/api/errors";
import {
  autofillQuery,
  buildParametersQuery,
  meQuery,
  putWorkspace,
  templateParametersQuery,
  workspaceQuery,
  workspacesQuery,
} from "@/api/queries";
import { presetsQuery, templatePermissionsQuery, templateQuery, versionsQuery } from "@/api/templateQueries";
import type {
  Preset,
  Template,
  TemplateParameter,
  TemplateVersion,
  Workspace,
  WorkspaceBuildParameter,
} from "@/api/types";
import { useT } from "@/i18n";
import { readDuplicate } from "@/lib/address";
import {
  checkValue,
  freeName,
  givenValues,
  isName,
  presetValues,
  startPreset,
  startValues,
  type Values,
} from "@/lib/parameters";
import { titleOf } from "@/lib/templates";
import { useTitle } from "@/lib/title";
import { createWorkspaceRoute, DEFAULT_FILTER } from "@/routes/workspaces";
import { ButtonLink } from "@/ui/Button";
import { Empty, ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { NotFound } from "../Fallbacks";
import { Consent } from "./Consent";
import { type Draft, Form } from "./Form";
import { Side } from "./Side";
import "./create.css";

interface Copied {
  workspace: Workspace;
  values: WorkspaceBuildParameter[];
}

/** The workspace that the address asks to duplicate, with the values of its latest build. */
function useCopied(duplicate: string | undefined) {
  const named = readDuplicate(duplicate);
  const workspace = useQuery({
    ...workspaceQuery(named?.owner ?? "", named?.name ?? ""),
    enabled: named !== undefined,
  });
  const build = workspace.data?.latest_build.id;
  const values = useQuery({ ...buildParametersQuery(build ?? ""), enabled: build !== undefined });
  const copied: Copied | undefined =
    workspace.data && values.data ? { workspace: workspace.data, values: values.data } : undefined;
  const error = workspace.error ?? values.error;
  return { copied, error, pending: named !== undefined && !copied && !error };
}

interface ReadyProps {
  template: Template;
  version: string;
  versions: readonly TemplateVersion[];
  parameters: readonly TemplateParameter[];
  presets: readonly Preset[];
  used: readonly WorkspaceBuildParameter[];
  taken: readonly string[];
  copied: Copied | undefined;
  forOthers: boolean;
}

function Ready(props: ReadyProps) {
  const client = useQueryClient();
  const search = createWorkspaceRoute.useSearch();
  const navigate = createWorkspaceRoute.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const { template, version, parameters, presets, copied } = props;

  const start = startValues(parameters, {
    search,
    used: props.used,
    ...(copied ? { copied: copied.values } : {}),
  });
  const base = copied ? `${copied.workspace.name.slice(0, 23)}-copy` : template.name;
  const [draft, setDraft] = useState<Draft>(() => ({
    name: search.name ?? freeName(base, props.taken),
    owner: me.username,
    preset: startPreset(presets, search, copied !== undefined),
  }));
  const [typed, setTyped] = useState<Values>({});
  // Another version has other presets.
  const preset = presets.find((each) => each.ID === draft.preset?.ID);
  const locked = presetValues(preset, parameters);
  const values: Values = { ...start.values, ...typed, ...locked };
  const origins = Object.fromEntries(
    Object.entries(start.origins).filter(([name]) => typed[name] === undefined),
  );

  const create = useMutation({
    mutationFn: () =>
      workspaces.create(
        {
          name: draft.name.trim(),
          ...(version === template.active_version_id
            ? { template_id: template.id }
            : { template_version_id: version }),
          rich_parameter_values: givenValues(parameters, values),
          ...(preset ? { template_version_preset_id: preset.ID } : {}),
          ...(copied ? settingsOf(copied.workspace) : {}),
        },
        draft.owner.trim() === me.username ? "me" : draft.owner.trim(),
      ),
    onSuccess: async (workspace) => {
      putWorkspace(client, workspace);
      void client.invalidateQueries({ queryKey: ["workspaces"] });
      await navigate({
        to: "/@{$owner}/$workspace",
        params: { owner: workspace.owner_name, workspace: workspace.name },
      });
    },
  });

  const ready =
    isName(draft.name) &&
    parameters.every((parameter) => !checkValue(parameter, values[parameter.name] ?? ""));
  const review = () =>
    void navigate({ search: ({ mode: _, ...rest }) => rest as Record<string, string>, replace: true });
  if (search.mode === "auto" && ready) {
    return (
      <Consent
        name={draft.name}
        owner={draft.owner}
        version={version}
        preset={preset?.Name}
        parameters={parameters}
        values={values}
        linked={{
          name: search.name !== undefined,
          version: search.version === version,
          preset: search.preset !== undefined,
          parameter: (name) => origins[name] === "link",
        }}
        busy={create.isPending}
        error={create.error}
        onAgree={() => create.mutate()}
        onReview={review}
      />
    );
  }
  return (
    <Form
      draft={{ ...draft, preset }}
      parameters={parameters}
      values={values}
      locked={locked}
      origins={origins}
      presets={presets}
      versions={props.versions}
      version={version}
      activeVersion={template.active_version_id}
      forOthers={props.forOthers}
      busy={create.isPending}
      error={create.error}
      onDraft={(change) => setDraft((old) => ({ ...old, ...change }))}
      onValue={(name, value) => setTyped((old) => ({ ...old, [name]: value }))}
      onVersion={(id) =>
        void navigate({ search: (old) => ({ ...old, version: id }) as Record<string, string>, replace: true })
      }
      onSubmit={() => create.mutate()}
    />
  );
}

/** What a duplicate takes over besides the values. */
function settingsOf(workspace: Workspace) {
  return {
    automatic_updates: workspace.automatic_updates,
    ...(workspace.autostart_schedule ? { autostart_schedule: workspace.autostart_schedule } : {}),
    ...(workspace.ttl_ms ? { ttl_ms: workspace.ttl_ms } : {}),
  };
}

function Main({ template }: { template: Template }) {
  const t = useT();
  const search = createWorkspaceRoute.useSearch();
  const may = useQuery(templatePermissionsQuery(template));
  const versions = useQuery({ ...versionsQuery(template.id), enabled: may.data?.update === true });
  const usable =
    versions.data?.filter((each) => each.job.status === "succeeded" && !each.archived).toReversed() ?? [];
  const chosen = usable.find((each) => each.id === search.version)?.id;
  const version = chosen ?? template.active_version_id;
  // While another version is chosen the form stays, with the version that it had.
  const parameters = useQuery({ ...templateParametersQuery(version), placeholderData: keepPreviousData });
  const presets = useQuery({ ...presetsQuery(version), placeholderData: keepPreviousData });
  const used = useQuery(autofillQuery(template.id));
  const mine = useQuery(workspacesQuery(DEFAULT_FILTER, 1));
  const { copied, error: copyError, pending: copying } = useCopied(search.duplicate);

  const error = may.error ?? parameters.error ?? presets.error;
  // Without what was used before, or the names that are taken, the form only proposes less.
  const waits = used.isPending || mine.isPending || copying || (may.data?.update && versions.isPending);
  const unknown = Object.keys(search)
    .filter((key) => key.startsWith("param."))
    .map((key) => key.slice("param.".length))
    .filter((name) => parameters.data && !parameters.data.some((parameter) => parameter.name === name));

  if (may.data?.createWorkspace === false && !may.data.createForOthers) {
    return (
      <Empty icon={Lock} title={t.template.notAllowed}>
        <p>{t.create.notAllowedText}</p>
      </Empty>
    );
  }
  return (
    <div className="create">
      <div className="create-main">
        {copied && (
          <Note icon={Copy}>
            <p className="note-title">
              {t.create.copyTitle(`${copied.workspace.owner_name}/${copied.workspace.name}`)}
            </p>
            <p>{t.create.copyText}</p>
          </Note>
        )}
        {copied && copied.workspace.template_id !== template.id && (
          <Note icon={TriangleAlert} tone="waiting">
            <p>
              {t.create.copyOther(copied.workspace.template_display_name || copied.workspace.template_name)}
            </p>
          </Note>
        )}
        {copyError && <ErrorNote error={copyError} next={t.create.copyFailed} />}
        {unknown.length > 0 && (
          <Note icon={Info} tone="waiting">
            <p>{t.create.unknownParameters(unknown.map(t.common.quoted).join(", "))}</p>
          </Note>
        )}
        {search.version &&
          !chosen &&
          !versions.isPending &&
          search.version !== template.active_version_id && (
            <Note icon={Info} tone="waiting">
              <p>{t.create.otherVersion}</p>
            </Note>
          )}
        {error ? (
          <ErrorNote error={error} next={t.create.notReady} onRetry={() => void parameters.refetch()} />
        ) : may.data && parameters.data && presets.data && !waits ? (
          <Ready
            template={template}
            version={version}
            versions={usable}
            parameters={parameters.data}
            presets={presets.data}
            used={used.data ?? []}
            taken={mine.data?.workspaces.map(({ name }) => name) ?? []}
            copied={copied}
            forOthers={may.data.createForOthers}
          />
        ) : (
          <Skeleton rows={5} />
        )}
      </div>
      <Side template={template} version={version} />
    </div>
  );
}

function Loaded({ template }: { template: Template }) {
  const t = useT();
  const title = titleOf(template);
  useTitle(t.create.title(title));
  return (
    <main className="page page-narrow" id="content">
      <h1>{t.create.title(title)}</h1>
      {template.deprecated ? (
        <Empty
          icon={LayoutTemplate}
          title={t.create.deprecated}
          action={<ButtonLink to="/workspaces/new" look="primary" text={t.create.changeTemplate} />}
        >
          <p>{template.deprecation_message}</p>
        </Empty>
      ) : (
        <Main template={template} />
      )}
    </main>
  );
}

export function Create() {
  const params = createWorkspaceRoute.useParams();
  const { data, error, refetch } = useQuery(templateQuery(params.template));
  if (data) return <Loaded key={data.id} template={data} />;
  if (isStatus(error, 404)) return <NotFound />;
  return (
    <main className="page page-narrow" id="content">
      <h1>{params.template}</h1>
      {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={5} />}
    </main>
  );
}
