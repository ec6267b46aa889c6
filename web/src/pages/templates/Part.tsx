/** One part of a template's page: its heading, and what it is for those who may not see it. */

import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import type { Template } from "@/api/types";
import { useT } from "@/i18n";
import { titleOf } from "@/lib/templates";
import { useTitle } from "@/lib/title";
import { Empty, Skeleton } from "@/ui/Notes";
import { useMay } from "./useTemplate";

interface Props {
  template: Template;
  title: string;
  /** What one does here, under the heading. */
  lead?: string;
  /** Beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}

export function Part({ template, title, lead, actions, children }: Props) {
  useTitle(title, titleOf(template));
  return (
    <section className="page template-part">
      <div className="page-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {lead && <p className="muted template-lead">{lead}</p>}
      {children}
    </section>
  );
}

/** For those who may edit the template; others are told. */
export function EditorsOnly({ template, children }: { template: Template; children: ReactNode }) {
  const t = useT();
  const may = useMay(template);
  if (!may) return <Skeleton rows={5} />;
  if (!may.update) {
    return (
      <Empty icon={Lock} title={t.template.editorsOnly}>
        <p>{t.template.editorsOnlyText}</p>
      </Empty>
    );
  }
  return children;
}
