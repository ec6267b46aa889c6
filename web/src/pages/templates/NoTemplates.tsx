/** What stands where templates would: how to make the first one, or whom to ask. */

import { useQuery } from "@tanstack/react-query";
import { LayoutTemplate, Plus } from "lucide-react";
import { sitePermissionsQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { ButtonLink } from "@/ui/Button";
import { CopyField } from "@/ui/CopyField";
import { Empty } from "@/ui/Notes";

const PUSH_COMMAND = "coder templates init && coder templates push";

export function NoTemplates() {
  const t = useT();
  const { data: may } = useQuery(sitePermissionsQuery);
  if (!may?.createTemplates) {
    return (
      <Empty icon={LayoutTemplate} title={t.workspaces.noTemplateTitle}>
        <p>{t.template.emptyAsk}</p>
      </Empty>
    );
  }
  return (
    <Empty
      icon={LayoutTemplate}
      title={t.workspaces.noTemplateTitle}
      action={
        <>
          <ButtonLink to="/templates/new" search={{}} look="primary" icon={Plus} text={t.templates.create} />
          <p>{t.template.emptyCommand}</p>
          <CopyField text={PUSH_COMMAND} />
        </>
      }
    >
      <p>{t.template.emptyText}</p>
    </Empty>
  );
}
