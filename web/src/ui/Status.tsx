/** State as icon and word; the colour only repeats it. */

import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { lookOf, stateOf, type Tone } from "@/lib/status";
import "./status.css";

export function WorkspaceState({ workspace }: { workspace: Workspace }) {
  const t = useT();
  const { state, tone, icon: Icon, turns } = lookOf(stateOf(workspace));
  return (
    <span className={`state tone-${tone}`} data-state={state}>
      <Icon size={16} aria-hidden className={turns ? "turns" : undefined} />
      {t.status[state]}
    </span>
  );
}

export function Badge({ tone, children }: { tone: Tone | "outdated"; children: string }) {
  return <span className={`badge tone-${tone}`}>{children}</span>;
}
