/** The palette's second list: what can be done with one workspace, why not, and what happens then. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowLeft, ScrollText, SquareTerminal, Terminal } from "lucide-react";
import { useState } from "react";
import type { useAction } from "@/api/actions";
import { useLiveWorkspace } from "@/api/live";
import { permissionsQuery, workspaceQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { type Can, canConnect } from "@/lib/can";
import { matching } from "@/lib/match";
import { ErrorNote } from "@/ui/Notes";
import { WorkspaceState } from "@/ui/Status";
import { Combo, type Item } from "./Combo";
import { canDo, VERB_ICONS, VERBS } from "./verbs";

/** What is being done with a workspace. */
export type Doing = ReturnType<typeof useAction>;

const MOST = 20;

interface Props {
  workspace: Workspace;
  doing: Doing;
  onBack: () => void;
  onClose: () => void;
}

export function WorkspaceActions({ workspace: given, doing, onBack, onClose }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const [query, setQuery] = useState("");
  const { data: workspace = given } = useQuery(workspaceQuery(given.owner_name, given.name));
  const { data: may } = useQuery(permissionsQuery(workspace));
  useLiveWorkspace(workspace.id);
  const why = (can: Can) => (can === true ? undefined : t.why[can]);
  const open = (panel?: "terminal" | "log") => {
    onClose();
    void navigate({
      to: "/@{$owner}/$workspace",
      params: { owner: workspace.owner_name, workspace: workspace.name },
      search: panel ? { panel } : {},
    });
  };
  const group = workspace.name;
  const items: Item[] = [
    { id: "open", group, icon: SquareTerminal, label: t.actions.open, onChoose: () => open() },
    {
      id: "terminal",
      group,
      icon: Terminal,
      label: t.actions.terminal,
      why: why(canConnect(workspace, may)),
      onChoose: () => open("terminal"),
    },
    { id: "log", group, icon: ScrollText, label: t.actions.log, onChoose: () => open("log") },
    ...VERBS.map((verb) => ({
      id: verb,
      group,
      icon: VERB_ICONS[verb],
      label: t.actions[verb],
      why: doing.isPending ? t.why.building : why(canDo(verb, workspace, may)),
      onChoose: () => doing.mutate({ workspace, action: verb }),
    })),
  ];
  return (
    <Combo
      label={t.palette.actionsOf(workspace.name)}
      placeholder={t.palette.placeholderActions(workspace.name)}
      query={query}
      onQuery={setQuery}
      items={matching(items, query, (item) => item.label, MOST)}
      autoFocus
      onBack={onBack}
    >
      {doing.error && doing.variables?.workspace.id === workspace.id && <ErrorNote error={doing.error} />}
      <div className="palette-foot">
        <button type="button" className="palette-back" onClick={onBack}>
          <ArrowLeft size={16} aria-hidden /> {t.palette.back}
        </button>
        <span className="palette-state" role="status">
          <WorkspaceState workspace={workspace} />
        </span>
      </div>
    </Combo>
  );
}
