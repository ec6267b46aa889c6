/** What a version is called, whose it is, what came of its import, and what one can do with it. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, Pencil, Plus } from "lucide-react";
import { useState } from "react";
import { sources } from "@/api/endpoints";
import type { Template, TemplateVersion } from "@/api/types";
import { templateChanged } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { canActivate, hasImported } from "@/lib/versions";
import { Button, ButtonLink } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { Badge } from "@/ui/Status";
import { Time } from "@/ui/Time";
import { JobState } from "../JobState";
import { Crumbs } from "./Crumbs";

interface Props {
  template: Template;
  version: TemplateVersion;
  mayEdit: boolean | undefined;
}

function Activate({ template, version, mayEdit }: Props) {
  const { t } = useEditorI18n();
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  const activate = useMutation({
    mutationFn: () => sources.activate(template.id, version.id),
    onSuccess: () => {
      setAsked(false);
      templateChanged(client);
    },
  });
  const can = canActivate(template, version, mayEdit);
  if (can === "active") return null;
  return (
    <>
      <Button
        icon={CircleCheck}
        why={can === true ? undefined : t.editor.version.why[can]}
        onClick={() => {
          activate.reset();
          setAsked(true);
        }}
      >
        {t.editor.version.activate}
      </Button>
      <Confirm
        title={t.editor.version.activateTitle(version.name)}
        lead={t.editor.version.activateLead}
        action={t.editor.version.activate}
        open={asked}
        busy={activate.isPending}
        error={activate.error}
        onConfirm={() => activate.mutate()}
        onClose={() => setAsked(false)}
      />
    </>
  );
}

export function VersionHead({ template, version, mayEdit }: Props) {
  const { t } = useEditorI18n();
  const active = template.active_version_id === version.id;
  return (
    <header className="version-head">
      <div className="version-head-title">
        <Crumbs template={template} last={version.name} />
        <JobState status={version.job.status} />
        {active && <Badge tone="running">{t.editor.version.active}</Badge>}
        {version.archived && <Badge tone="stopped">{t.editor.version.archived}</Badge>}
      </div>
      <div className="version-head-actions">
        {mayEdit && (
          <>
            <Activate template={template} version={version} mayEdit={mayEdit} />
            <ButtonLink
              icon={Pencil}
              text={t.editor.version.edit}
              to="/templates/$template/versions/$version/edit"
              params={{ template: template.name, version: version.name }}
            />
          </>
        )}
        {active && hasImported(version) && (
          <ButtonLink
            look="primary"
            icon={Plus}
            text={t.editor.version.newWorkspace}
            to="/templates/$template/workspace"
            params={{ template: template.name }}
            search={{}}
          />
        )}
      </div>
      <p className="version-about">
        {version.message && <span className="version-head-message">{version.message}</span>}
        <span className="muted">
          {t.editor.version.by(version.created_by.username)} · <Time at={version.created_at} />
        </span>
      </p>
    </header>
  );
}
