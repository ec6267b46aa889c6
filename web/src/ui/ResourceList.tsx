/** What a start of a template version makes, one under another. */

import { Boxes } from "lucide-react";
import type { WorkspaceResource } from "@/api/types";
import { useT } from "@/i18n";
import { Icon } from "./Icon";
import "./resource-list.css";

export function ResourceList({ resources }: { resources: readonly WorkspaceResource[] }) {
  const t = useT();
  const made = resources.filter((each) => each.workspace_transition === "start" && !each.hide);
  if (made.length === 0) return <p className="muted small">{t.template.noResources}</p>;
  return (
    <ul className="resources">
      {made.map((resource) => (
        <li key={resource.id}>
          <Icon icon={resource.icon} fallback={Boxes} size={16} />
          <span>
            {resource.name} <code className="muted small">{resource.type}</code>
            {resource.agents?.map((agent) => (
              <span key={agent.id} className="small muted resource-more">
                {t.workspace.agent} {agent.name} · {agent.operating_system} {agent.architecture}
              </span>
            ))}
            {resource.daily_cost > 0 && (
              <span className="small muted resource-more">{t.workspace.cost(resource.daily_cost)}</span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
