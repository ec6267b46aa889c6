/** Which organization a page is about: the one in the address, else the default one. */

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { organizationsQuery } from "@/api/adminQueries";
import type { Organization } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { NotFound } from "@/pages/Fallbacks";
import { Select } from "@/ui/Field";
import { ErrorNote, Skeleton } from "@/ui/Notes";

export const organizationName = (organization: Organization) =>
  organization.display_name || organization.name;

interface Props {
  /** Its name, as it stands in the address. */
  name: string | undefined;
  title: string;
  onPick: (name: string) => void;
  /** The page about it; `pick` chooses another, where there are several. */
  children: (organization: Organization, pick: ReactNode) => ReactNode;
}

export function InOrganization({ name, title, onPick, children }: Props) {
  const { t } = useAdminI18n();
  const { data, error, refetch } = useQuery(organizationsQuery);
  if (!data) {
    return (
      <main className="page" id="content">
        <div className="page-head">
          <h1>{title}</h1>
        </div>
        {error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={6} />}
      </main>
    );
  }
  const chosen = name
    ? data.find((each) => each.name === name || each.id === name)
    : (data.find((each) => each.is_default) ?? data[0]);
  if (!chosen) return <NotFound />;
  const pick = data.length > 1 && (
    <Select
      label={t.admin.members.organization}
      value={chosen.name}
      options={data.map((each) => [each.name, organizationName(each)] as const)}
      onPick={onPick}
    />
  );
  return children(chosen, pick);
}
