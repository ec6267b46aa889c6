/** What the latest build made, with its metadata. */

import {
  Box,
  Boxes,
  Container,
  HardDrive,
  KeyRound,
  type LucideIcon,
  Network,
  Package,
  Server,
} from "lucide-react";
import { useState } from "react";
import type { Workspace, WorkspaceResource } from "@/api/types";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Empty } from "@/ui/Notes";

type Item = NonNullable<WorkspaceResource["metadata"]>[number];

/** By words in Terraform's types: the server has no pictures, and none come from elsewhere. */
const ICONS: [RegExp, LucideIcon][] = [
  [/volume|disk|bucket|storage|persistent/, HardDrive],
  [/image|ami/, Package],
  [/container|pod|deployment/, Container],
  [/network|subnet|firewall|address|dns/, Network],
  [/key|secret|password|certificate/, KeyRound],
  [/instance|server|machine|droplet|vm/, Server],
];
const iconOf = (type: string) => ICONS.find(([word]) => word.test(type))?.[1] ?? Box;

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
  const Icon = iconOf(resource.type);
  return (
    <li className="resource">
      <h3>
        <Icon size={16} aria-hidden />
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
  const { daily_cost: cost, resources: all } = workspace.latest_build;
  const resources = all.filter((resource) => !resource.hide);
  if (resources.length === 0) return <Empty icon={Boxes} title={t.workspace.noResources} />;
  return (
    <div className="panel-text">
      {cost > 0 && <p>{t.workspacePage.costInAll(t.workspace.cost(cost))}</p>}
      <ul className="workspace-resources">
        {resources.map((resource) => (
          <Resource key={resource.id} resource={resource} />
        ))}
      </ul>
    </div>
  );
}
