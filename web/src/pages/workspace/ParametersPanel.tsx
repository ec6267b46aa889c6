/** The values that the latest build was made with. */

import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { buildParametersQuery, templateParametersQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";

export function ParametersPanel({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const { latest_build: build } = workspace;
  const values = useQuery(buildParametersQuery(build.id));
  const definitions = useQuery(templateParametersQuery(build.template_version_id));
  const error = values.error ?? definitions.error;
  if (error) return <ErrorNote error={error} onRetry={() => void values.refetch()} />;
  if (!values.data || !definitions.data) return <Skeleton rows={4} />;
  if (values.data.length === 0) return <Empty icon={SlidersHorizontal} title={t.workspace.noParameters} />;
  const definitionOf = (name: string) => definitions.data.find((definition) => definition.name === name);
  return (
    <div className="panel-text">
      <h2>{t.workspace.parametersOf(build.build_number)}</h2>
      <dl className="pairs">
        {values.data.map(({ name, value }) => {
          const definition = definitionOf(name);
          const option = definition?.options.find((each) => each.value === value);
          return (
            <div key={name}>
              <dt>
                {definition?.display_name || name}
                {definition?.description_plaintext && (
                  <span className="muted small">{definition.description_plaintext}</span>
                )}
              </dt>
              <dd className="mono">{option?.name ?? (value || "–")}</dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
