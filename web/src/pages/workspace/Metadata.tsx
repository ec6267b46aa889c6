/** What an agent measures, as it measures it. */

import { Link } from "@tanstack/react-router";
import { useMetadata } from "@/api/metadata";
import { useT } from "@/i18n";
import { plainText } from "@/lib/ansi";
import { workspaceRoute } from "@/routes/workspaces";

/** Longer values belong into a file. */
const LONGEST = 120;

interface Props {
  agent: string;
  /** So many are shown, with the way to the others. */
  most?: number;
}

export function Metadata({ agent, most = Number.POSITIVE_INFINITY }: Props) {
  const t = useT();
  const params = workspaceRoute.useParams();
  const items = useMetadata(agent);
  if (items.length === 0) return null;
  const rest = items.length - most;
  return (
    <div className="metadata">
      <dl aria-label={t.workspace.metadata}>
        {items.slice(0, most).map(({ description, result }) => {
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
      {rest > 0 && (
        <Link to="/@{$owner}/$workspace" params={params} search={{ panel: "agents" }}>
          {t.workspacePage.agents.more(rest)}
        </Link>
      )}
    </div>
  );
}
