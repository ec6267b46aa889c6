/** Everything that can be set on a workspace but its parameters: schedule, updates, name, dormancy, and its end. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Info, TriangleAlert } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { workspaces } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { putWorkspace, workspaceQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { resolveAutostartQuery, templateQuery } from "@/api/workspaceQueries";
import { useI18n, useT } from "@/i18n";
import { canDelete, isBusy, type Permissions } from "@/lib/can";
import { fieldError } from "@/lib/fieldError";
import { duration } from "@/lib/time";
import { workspaceRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Check, Field } from "@/ui/Field";
import { ErrorNote, Note } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { ScheduleForm } from "./ScheduleForm";

interface Props {
  workspace: Workspace;
  may: Permissions | undefined;
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="workspace-setting">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Updates({ workspace, may }: Props) {
  const t = useT();
  const words = t.workspacePage.settings;
  const client = useQueryClient();
  const mismatch = useQuery(resolveAutostartQuery(workspace)).data?.parameter_mismatch;
  const always = workspace.automatic_updates === "always";
  const save = useMutation({
    mutationFn: (on: boolean) => workspaces.setAutomaticUpdates(workspace.id, on ? "always" : "never"),
    onSuccess: (_, on) => putWorkspace(client, { ...workspace, automatic_updates: on ? "always" : "never" }),
  });
  return (
    <Section title={words.updates}>
      {workspace.template_require_active_version ? (
        <p className="muted">{words.updatesRequired}</p>
      ) : (
        <Check
          label={words.updatesAlways}
          hint={words.updatesAlwaysHint}
          checked={save.isPending ? save.variables : always}
          disabled={may?.update === false}
          onChange={(on) => save.mutate(on)}
        />
      )}
      {mismatch && workspace.autostart_schedule && (
        <Note icon={TriangleAlert} tone="waiting">
          <p>{words.updatesMismatch}</p>
        </Note>
      )}
      <Saved done={save.isSuccess} />
      {save.error && <ErrorNote error={save.error} />}
    </Section>
  );
}

function Name({ workspace, may }: Props) {
  const t = useT();
  const words = t.workspacePage.settings;
  const client = useQueryClient();
  const navigate = workspaceRoute.useNavigate();
  const [name, setName] = useState(workspace.name);
  const rename = useMutation({
    mutationFn: (next: string) => workspaces.rename(workspace.id, next),
    onSuccess: async (_, next) => {
      const { owner_name: owner } = workspace;
      // Everything that asks by the name finds it under the new one at once.
      client.setQueryData(workspaceQuery(owner, next).queryKey, { ...workspace, name: next });
      void client.invalidateQueries({ queryKey: ["workspaces"] });
      await navigate({ params: { owner, workspace: next }, search: { panel: "settings" }, replace: true });
      client.removeQueries({ queryKey: workspaceQuery(owner, workspace.name).queryKey, exact: true });
    },
  });
  const error = rename.error instanceof ApiError ? rename.error : undefined;
  const why = may?.update === false ? t.why.notAllowed : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!rename.isPending && !why && name.trim() !== workspace.name) rename.mutate(name.trim());
  };
  return (
    <Section title={words.name}>
      {workspace.allow_renames ? (
        <form className="form" onSubmit={submit}>
          <Field
            label={words.name}
            hint={words.renameHint}
            error={fieldError(t, error, "name")}
            value={name}
            onChange={(event) => setName(event.target.value)}
            disabled={why !== undefined}
            autoComplete="off"
            spellCheck={false}
            required
            maxLength={32}
          />
          {rename.error && !fieldError(t, error, "name") ? <ErrorNote error={rename.error} /> : null}
          <div className="form-actions">
            <Button
              type="submit"
              busy={rename.isPending}
              why={why ?? (name.trim() === workspace.name ? t.workspacePage.parameters.unchanged : undefined)}
            >
              {words.rename}
            </Button>
          </div>
        </form>
      ) : (
        <p className="muted">{words.renameOff}</p>
      )}
    </Section>
  );
}

function Dormancy({ workspace, may }: Props) {
  const { t, language } = useI18n();
  const words = t.workspacePage.settings;
  const client = useQueryClient();
  const { data: template } = useQuery(templateQuery(workspace.template_id));
  const dormant = Boolean(workspace.dormant_at);
  const after = template?.time_til_dormant_autodelete_ms ?? 0;
  const save = useMutation({
    mutationFn: (on: boolean) => workspaces.setDormant(workspace.id, on),
    onSuccess: () =>
      client.invalidateQueries({ queryKey: workspaceQuery(workspace.owner_name, workspace.name).queryKey }),
  });
  return (
    <Section title={words.dormancy}>
      <p className="muted">{words.dormancyText}</p>
      {after > 0 && <p className="muted">{words.dormancyDeleted(duration(language, after))}</p>}
      <Button
        busy={save.isPending}
        why={
          may?.update === false
            ? t.why.notAllowed
            : !dormant && isBusy(workspace)
              ? t.why.building
              : undefined
        }
        onClick={() => save.mutate(!dormant)}
      >
        {dormant ? t.workspacePage.wake : words.makeDormant}
      </Button>
      {save.error && <ErrorNote error={save.error} />}
    </Section>
  );
}

export function SettingsPanel({ workspace, may, onDelete }: Props & { onDelete: () => void }) {
  const t = useT();
  const words = t.workspacePage.settings;
  const can = canDelete(workspace, may);
  return (
    <div className="panel-text">
      <Section title={words.schedule}>
        <ScheduleForm workspace={workspace} may={may} />
      </Section>
      <Updates workspace={workspace} may={may} />
      <Name key={workspace.name} workspace={workspace} may={may} />
      <Dormancy workspace={workspace} may={may} />
      <Section title={words.delete}>
        <Note icon={Info} tone="failed">
          <p>{words.deleteText}</p>
        </Note>
        <Button look="danger" why={can === true ? undefined : t.why[can]} onClick={onDelete}>
          {words.deleteButton}
        </Button>
      </Section>
    </div>
  );
}
