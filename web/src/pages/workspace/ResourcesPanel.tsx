/** What the latest build made, with its metadata. */

import { Boxes } from "lucide-react";
import { useState } from "react";
import type { Workspace, WorkspaceResource } from "@/api/types";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Empty } from "@/ui/Notes";

type Item = NonNullable<WorkspaceResource["metadata"]>[number];

function Value({ item }: { item: Item }) {
  const t = useT();
  const [seen, setSeen] = useState(!item.sensitive);
  return (
    <>
      <span className="mono">{seen ? item.value || "–" : "••••••••"}</span>
      {item.sensitive && (
        <Button
          look="quiet"
          onClick={() => setSeen(!seen)}
          aria-label={`${seen ? t.common.hide : t.common.show}: ${item.key}`}
        >
          {seen ? t.common.hide : t.common.show}
        </Button>
      )}
      {item.value && <CopyButton text={() => item.value} label={`${t.common.copy}: ${item.key}`} />}
    </>
  );
}

function Resource({ resource }: { resource: WorkspaceResource }) {
  const t = useT();
  const items = resource.metadata ?? [];
  return (
    <li className="resource">
      <h3>
        {resource.name} <code className="muted">{resource.type}</code>
      </h3>
      {resource.daily_cost > 0 && <p className="small">{t.workspace.cost(resource.daily_cost)}</p>}
      {items.length > 0 ? (
        <dl className="pairs">
          {items.map((item) => (
            <div key={item.key}>
              <dt>{item.key}</dt>
              <dd>
                <Value item={item} />
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p className="muted small">{t.workspace.noMetadata}</p>
      )}
    </li>
  );
}

export function ResourcesPanel({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const resources = workspace.latest_build.resources.filter((resource) => !resource.hide);
  if (resources.length === 0) return <Empty icon={Boxes} title={t.workspace.noResources} />;
  return (
    <ul className="panel-text">
      {resources.map((resource) => (
        <Resource key={resource.id} resource={resource} />
      ))}
    </ul>
  );
}
