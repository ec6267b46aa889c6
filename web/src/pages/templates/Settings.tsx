/** What a template is called, who may do what with it, and the end of it. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { LayoutTemplate } from "lucide-react";
import { useState } from "react";
import { templates } from "@/api/endpoints";
import { templatesQuery } from "@/api/queries";
import { templateQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { titleOf } from "@/lib/templates";
import { templateSettingsRoute } from "@/routes/template";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { Check, Field, FieldFrame, Select } from "@/ui/Field";
import { Icon } from "@/ui/Icon";
import { EditorsOnly, Part } from "./Part";
import { SettingsForm, useSaveTemplate } from "./SettingsForm";
import { useMay, useTemplate } from "./useTemplate";

/** From the narrowest to the widest. */
const SHARES = ["owner", "authenticated", "organization", "public"] as const;

function General({ template }: { template: Template }) {
  const t = useT();
  const words = t.template.settings;
  const navigate = templateSettingsRoute.useNavigate();
  const save = useSaveTemplate(template, (news) => {
    if (news.name !== template.name) {
      void navigate({ to: "/templates/$template/settings", params: { template: news.name }, replace: true });
    }
  });
  const [name, setName] = useState(template.name);
  const [display_name, setDisplayName] = useState(template.display_name);
  const [description, setDescription] = useState(template.description);
  const [icon, setIcon] = useState(template.icon);
  return (
    <SettingsForm
      save={save}
      change={{ name: name.trim(), display_name: display_name.trim(), description: description.trim(), icon }}
      fields={["name", "display_name", "description"]}
    >
      <Field
        label={t.create.name}
        hint={words.nameHint}
        error={fieldError(t, save.error, "name")}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        maxLength={32}
      />
      <Field
        label={words.displayName}
        hint={words.displayNameHint}
        error={fieldError(t, save.error, "display_name")}
        optional
        value={display_name}
        onChange={(event) => setDisplayName(event.target.value)}
        maxLength={64}
      />
      <FieldFrame
        label={words.description}
        hint={words.descriptionHint}
        error={fieldError(t, save.error, "description")}
        optional
      >
        {(control) => (
          <textarea
            className="input"
            {...control}
            value={description}
            maxLength={127}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </FieldFrame>
      <FieldFrame label={words.icon} hint={words.iconHint} optional>
        {(control) => (
          <span className="icon-field">
            <Icon icon={icon} fallback={LayoutTemplate} size={24} />
            <input
              className="input"
              {...control}
              value={icon}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => setIcon(event.target.value.trim())}
            />
          </span>
        )}
      </FieldFrame>
    </SettingsForm>
  );
}

function Rules({ template }: { template: Template }) {
  const t = useT();
  const words = t.template.settings;
  const save = useSaveTemplate(template);
  const [active, setActive] = useState(template.require_active_version);
  const [cancel, setCancel] = useState(template.allow_user_cancel_workspace_jobs);
  const [share, setShare] = useState(template.max_port_share_level);
  const [deprecation_message, setDeprecation] = useState(template.deprecation_message);
  return (
    <SettingsForm
      save={save}
      change={{
        require_active_version: active,
        allow_user_cancel_workspace_jobs: cancel,
        max_port_share_level: share,
        deprecation_message: deprecation_message.trim(),
      }}
      fields={["max_port_share_level"]}
    >
      <Check
        label={words.requireActive}
        hint={words.requireActiveHint}
        checked={active}
        onChange={setActive}
      />
      <Check label={words.allowCancel} hint={words.allowCancelHint} checked={cancel} onChange={setCancel} />
      <Select
        label={words.share}
        hint={words.shareHint}
        error={fieldError(t, save.error, "max_port_share_level")}
        value={share}
        options={SHARES.map((level) => [level as string, words.shares[level]] as const)}
        onPick={setShare}
      />
      <FieldFrame label={words.deprecation} hint={words.deprecationHint} optional>
        {(control) => (
          <textarea
            className="input"
            {...control}
            value={deprecation_message}
            onChange={(event) => setDeprecation(event.target.value)}
          />
        )}
      </FieldFrame>
    </SettingsForm>
  );
}

function Delete({ template }: { template: Template }) {
  const t = useT();
  const may = useMay(template);
  const client = useQueryClient();
  const navigate = templateSettingsRoute.useNavigate();
  const [open, setOpen] = useState(false);
  const words = t.template.settings;
  const remove = useMutation({
    mutationFn: () => templates.remove(template.id),
    onSuccess: async () => {
      await navigate({ to: "/templates" });
      client.removeQueries({ queryKey: templateQuery(template.name).queryKey });
      void client.invalidateQueries({ queryKey: templatesQuery.queryKey });
    },
  });
  return (
    <section className="danger">
      <h3>{words.delete}</h3>
      <p className="muted">{words.deleteText}</p>
      <Button
        look="danger"
        why={may?.remove === false ? t.template.notAllowed : undefined}
        onClick={() => setOpen(true)}
      >
        {words.delete}
      </Button>
      <Confirm
        title={words.deleteTitle(titleOf(template))}
        lead={words.deleteText}
        action={words.delete}
        name={template.name}
        danger
        open={open}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          remove.reset();
          setOpen(false);
        }}
      />
    </section>
  );
}

export function Settings() {
  const t = useT();
  const template = useTemplate();
  const words = t.template.settings;
  return (
    <Part template={template} title={t.template.pages.settings}>
      <EditorsOnly template={template}>
        <section className="settings-part">
          <h3>{words.general}</h3>
          <General key={template.id} template={template} />
        </section>
        <section className="settings-part">
          <h3>{words.rules}</h3>
          <Rules key={template.id} template={template} />
        </section>
        <Delete template={template} />
      </EditorsOnly>
    </Part>
  );
}
