/** A form of settings: it sends what has changed, shows what the server says at the fields, and tells that it is saved. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { templates } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { putTemplate } from "@/api/templateQueries";
import type { Template, UpdateTemplate } from "@/api/types";
import { useT } from "@/i18n";
import { templateChange } from "@/lib/templates";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";

export function useSaveTemplate(template: Template, onSaved?: (news: Template) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: UpdateTemplate) => templates.update(template.id, templateChange(template, change)),
    onSuccess: (news) => {
      putTemplate(client, news);
      onSaved?.(news);
    },
  });
}

interface Props {
  save: ReturnType<typeof useSaveTemplate>;
  /** What is sent; `undefined` while a field cannot be read. */
  change: UpdateTemplate | undefined;
  /** The fields of the API that stand in the form: what is said of others stands under it. */
  fields: readonly string[];
  onSubmit?: () => void;
  children: ReactNode;
}

export function SettingsForm({ save, change, fields, onSubmit, children }: Props) {
  const t = useT();
  const error = save.error instanceof ApiError ? save.error : undefined;
  const elsewhere = save.error && !error?.validations.some(({ field }) => fields.includes(field));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
    if (change && !save.isPending) save.mutate(change);
  };
  return (
    <form className="form" onSubmit={submit} onChange={() => save.reset()} noValidate>
      {children}
      {elsewhere && <ErrorNote error={save.error} />}
      <div className="form-actions">
        <Button type="submit" look="primary" busy={save.isPending}>
          {t.common.save}
        </Button>
        <Saved done={save.isSuccess} />
      </div>
    </form>
  );
}
