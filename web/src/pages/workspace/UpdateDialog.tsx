/** Builds a workspace with another version of its template, and asks for the values that this version needs. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { stopFully } from "@/api/actions";
import { builds } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import {
  buildParametersQuery,
  putWorkspace,
  templateParametersQuery,
  templateVersionQuery,
} from "@/api/queries";
import type { TemplateVersion, Workspace } from "@/api/types";
import { templateVersionsQuery } from "@/api/workspaceQueries";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import type { Values } from "@/lib/parameters";
import { type Asked, askedOf } from "@/lib/update";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Select } from "@/ui/Field";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { ParameterField } from "../create/ParameterField";

/** What one wants built: the active version, the same after a stop, one to be chosen, or this one. */
export type Wanted = "active" | "restart" | "choose" | { id: string };

interface FormProps {
  workspace: Workspace;
  version: string;
  asked: Asked[];
  /** Stops the workspace first. */
  restart: boolean;
  action: string;
  onClose: () => void;
  onBuilt: () => void;
}

function Form({ workspace, version, asked, restart, action, onClose, onBuilt }: FormProps) {
  const t = useT();
  const words = t.workspacePage.update;
  const client = useQueryClient();
  const open = asked.filter(({ parameter, because }) => because === "new" || parameter.mutable);
  const stuck = asked.filter((each) => !open.includes(each));
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(open.map(({ parameter, value }) => [parameter.name, value])),
  );
  const ready = useRef(!restart);
  const build = useMutation({
    mutationFn: async () => {
      ready.current ||= await stopFully(client, workspace);
      // A stop that failed is told where the workspace's state is.
      if (!ready.current) return undefined;
      return builds.create(workspace.id, {
        transition: "start",
        template_version_id: version,
        rich_parameter_values: Object.entries(values).map(([name, value]) => ({ name, value })),
      });
    },
    onSuccess: (latest_build) => {
      if (latest_build) putWorkspace(client, { ...workspace, latest_build });
      void client.invalidateQueries({ queryKey: ["builds", workspace.id] });
      onBuilt();
    },
  });
  const error = build.error instanceof ApiError ? build.error : undefined;
  const atFields = error?.validations.some(({ field }) => field in values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!build.isPending && stuck.length === 0) build.mutate();
  };
  return (
    <form className="dialog-form" onSubmit={submit}>
      {asked.length === 0 && <p className="muted">{words.nothingAsked}</p>}
      {open.length > 0 && <p>{words.asks}</p>}
      {open.map(({ parameter, because, value }) => (
        <div key={parameter.name} className="asked">
          <ParameterField
            parameter={parameter}
            value={values[parameter.name] ?? ""}
            error={fieldError(t, error, parameter.name)}
            onChange={(next) => setValues((old) => ({ ...old, [parameter.name]: next }))}
          />
          <p className="muted small">{because === "new" ? words.asked.new : words.asked.refused(value)}</p>
        </div>
      ))}
      {stuck.map(({ parameter, value }) => (
        <Note key={parameter.name} icon={TriangleAlert} tone="failed">
          <p className="note-title">{parameter.display_name || parameter.name}</p>
          <p>{words.asked.refused(value)}</p>
          <p>{words.immutableRefused}</p>
        </Note>
      ))}
      {build.error && !atFields ? <ErrorNote error={build.error} /> : null}
      <div className="dialog-actions">
        <Button onClick={onClose}>{t.common.cancel}</Button>
        <Button
          type="submit"
          look="primary"
          busy={build.isPending}
          why={stuck.length > 0 ? words.immutableRefused : undefined}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}

/** The versions that can be built, newest first. */
function Versions(props: {
  workspace: Workspace;
  versions: TemplateVersion[];
  value: string;
  onPick: (id: string) => void;
}) {
  const t = useT();
  const { workspace, versions } = props;
  const marks = (id: string) =>
    [
      id === workspace.template_active_version_id ? t.workspacePage.activeVersion : "",
      id === workspace.latest_build.template_version_id ? t.workspacePage.update.current : "",
    ]
      .filter(Boolean)
      .join(", ");
  return (
    <Select
      label={t.workspacePage.update.version}
      value={props.value}
      options={versions
        .filter((version) => version.job.status === "succeeded" && !version.archived)
        .map(({ id, name }) => [id, t.workspacePage.update.versionOption(name, marks(id))] as const)}
      onPick={props.onPick}
    />
  );
}

interface Props {
  workspace: Workspace;
  wanted: Wanted;
  onClose: () => void;
  onBuilt: () => void;
}

export function UpdateDialog({ workspace, wanted, onClose, onBuilt }: Props) {
  const t = useT();
  const words = t.workspacePage.update;
  const choose = wanted === "choose";
  const [picked, setPicked] = useState(workspace.latest_build.template_version_id);
  const restart = wanted === "restart";
  const id = choose
    ? picked
    : wanted === "active" || restart
      ? workspace.template_active_version_id
      : wanted.id;
  const versions = useQuery({ ...templateVersionsQuery(workspace.template_id), enabled: choose });
  const version = useQuery(templateVersionQuery(id));
  const next = useQuery(templateParametersQuery(id));
  const kept = useQuery(buildParametersQuery(workspace.latest_build.id));
  const error = versions.error ?? next.error ?? kept.error;
  const title = choose ? words.changeTitle : words.title(version.data?.name ?? "…");
  const runs = workspace.latest_build.status === "running";
  return (
    <Dialog title={title} lead={runs ? words.lead : words.leadStopped} open onClose={onClose}>
      {choose && versions.data && (
        <Versions workspace={workspace} versions={versions.data} value={id} onPick={setPicked} />
      )}
      {error ? (
        <ErrorNote error={error} onRetry={() => void Promise.all([next.refetch(), kept.refetch()])} />
      ) : next.data && kept.data ? (
        <Form
          key={id}
          workspace={workspace}
          version={id}
          asked={askedOf(next.data, kept.data)}
          restart={restart}
          action={choose ? words.changeAction : words.action}
          onClose={onClose}
          onBuilt={onBuilt}
        />
      ) : (
        <Skeleton rows={3} />
      )}
    </Dialog>
  );
}
