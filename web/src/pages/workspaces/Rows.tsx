/** The rows of the list, and those that are chosen. */

import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import type { Stages } from "@/api/live";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { type BulkAction, range } from "@/lib/bulk";
import { useNarrow } from "@/lib/media";
import { useAsking } from "../useAsking";
import { BulkBar } from "./BulkBar";
import { useBulk } from "./useBulk";
import { useRowActions } from "./useRowActions";
import type { Measure } from "./Windowed";
import { WorkspaceRow } from "./WorkspaceRow";

/** A list that is longer is drawn only where it is in sight; until that is loaded, so many of its rows are shown. */
const SHORT = 60;

const Windowed = lazy(async () => ({ default: (await import("./Windowed")).Windowed }));

interface Props {
  rows: readonly Workspace[];
  /** How many there are with those of other pages. */
  count: number;
  me: string;
  stages: Stages;
}

/** What is chosen; a press with shift chooses everything from the press before. */
function useChoice(rows: readonly Workspace[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = useRef<string[]>([]);
  ids.current = rows.map((row) => row.id);
  const last = useRef("");
  const choose = useCallback((id: string, on: boolean, shift: boolean) => {
    const touched = shift ? range(ids.current, last.current, id) : [id];
    last.current = id;
    setChosen((old) => {
      const next = new Set(old);
      for (const each of touched) {
        if (on) next.add(each);
        else next.delete(each);
      }
      return next;
    });
  }, []);
  const all = (on: boolean) => setChosen(new Set(on ? ids.current : []));
  return { chosen, choose, all };
}

export function Rows({ rows, count, me, stages }: Props) {
  const t = useT();
  const { chosen, choose, all } = useChoice(rows);
  const { run, start, forget } = useBulk(me);
  const { ask, dialog } = useAsking();
  const { doing, onAct, onFavor } = useRowActions(ask);
  const narrow = useNarrow();
  // What has left the list is not acted on.
  const selected = useMemo(() => rows.filter((row) => chosen.has(row.id)), [rows, chosen]);
  const draw = (workspace: Workspace, index: number, measure?: Measure) => (
    <WorkspaceRow
      key={workspace.id}
      workspace={workspace}
      me={me}
      index={index}
      total={rows.length}
      chosen={chosen.has(workspace.id)}
      stage={stages[workspace.id]}
      doing={doing[workspace.id]}
      outcome={run?.outcomes[workspace.id]}
      narrow={narrow}
      onChoose={choose}
      onAct={onAct}
      onFavor={onFavor}
      onAsk={ask}
      measure={measure}
    />
  );
  const short = (
    <ul className="rows" aria-label={t.workspaces.title}>
      {rows.slice(0, SHORT).map((workspace, index) => draw(workspace, index))}
    </ul>
  );
  const act = (action: BulkAction) => void start(action, selected);
  return (
    <div className="list">
      <BulkBar
        count={count}
        shown={rows.length}
        chosen={selected}
        run={run}
        onAll={all}
        rows={rows}
        onAsk={ask}
        onAction={act}
        onForget={forget}
      />
      {rows.length > SHORT ? (
        <Suspense fallback={short}>
          <Windowed rows={rows} draw={draw} />
        </Suspense>
      ) : (
        short
      )}
      {dialog}
    </div>
  );
}
