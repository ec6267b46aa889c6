/** Gives a version its name and its message, and makes it the active one. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { sources } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import type { Template, TemplateVersion } from "@/api/types";
import { putVersion, templateChanged } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { fieldError } from "@/lib/fieldError";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, FieldFrame } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";

interface Props {
  template: Template;
  version: TemplateVersion;
  onPublished: (version: TemplateVersion) => void;
  onClose: () => void;
}

export function PublishDialog({ template, version, onPublished, onClose }: Props) {
  const { t } = useEditorI18n();
  const client = useQueryClient();
  const [name, setName] = useState(version.name);
  const [message, setMessage] = useState(version.message);
  const publish = useMutation({
    mutationFn: async () => {
      const same = name === version.name && message === version.message;
      const named = same ? version : await sources.name(version.id, { name, message });
      putVersion(client, named);
      await sources.activate(template.id, version.id);
      return named;
    },
    onSuccess: (named) => {
      templateChanged(client);
      onPublished(named);
    },
  });
  const error = publish.error instanceof ApiError ? publish.error : undefined;
  const known = ["name", "message"].some((field) => fieldError(t, error, field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!publish.isPending) publish.mutate();
  };
  return (
    <Dialog open title={t.editor.edit.publishTitle} lead={t.editor.edit.publishLead} onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <Field
          label={t.editor.edit.versionName}
          hint={t.editor.edit.versionNameHint}
          error={fieldError(t, error, "name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          required
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
        />
        <FieldFrame
          label={t.editor.edit.message}
          hint={t.editor.edit.messageHint}
          error={fieldError(t, error, "message")}
          optional
        >
          {(control) => (
            <textarea
              {...control}
              className="input"
              value={message}
              onChange={(event) => setMessage(event.target.value)}
            />
          )}
        </FieldFrame>
        {publish.error && !known ? <ErrorNote error={publish.error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={publish.isPending}>
            {t.editor.edit.publish}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
