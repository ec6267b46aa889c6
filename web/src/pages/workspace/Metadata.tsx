/** What an agent measures, as it measures it. */

import { useEffect, useState } from "react";
import { openEvents } from "@/api/streams";
import type { WorkspaceAgentMetadata } from "@/api/types";
import { urls } from "@/api/urls";
import { useT } from "@/i18n";
import { plainText } from "@/lib/ansi";

/** Longer values belong into a file. */
const LONGEST = 120;

export function Metadata({ agent }: { agent: string }) {
  const t = useT();
  const [items, setItems] = useState<WorkspaceAgentMetadata[]>([]);
  useEffect(() => openEvents<WorkspaceAgentMetadata[]>(urls.agentMetadata(agent), setItems), [agent]);
  if (items.length === 0) return null;
  return (
    <dl className="metadata" aria-label={t.workspace.metadata}>
      {items.map(({ description, result }) => {
        const value = plainText(result.value).trim();
        return (
          <div key={description.key}>
            <dt>{description.display_name || description.key}</dt>
            {result.error ? (
              <dd className="metadata-error">{plainText(result.error).slice(0, LONGEST)}</dd>
            ) : value ? (
              <dd>{value.slice(0, LONGEST)}</dd>
            ) : (
              <dd className="muted">{t.workspace.waiting}</dd>
            )}
          </div>
        );
      })}
    </dl>
  );
}
