/** The rows of the list, of which only those in sight are drawn, and those that are chosen. */

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Stages } from "@/api/live";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { type BulkAction, range } from "@/lib/bulk";
import { BulkBar } from "./BulkBar";
import { useBulk } from "./useBulk";
import { WorkspaceRow } from "./WorkspaceRow";

/** A row on a wide screen; others are measured. */
const ROW_PX = 45;
const OVERSCAN = 6;

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
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  const { chosen, choose, all } = useChoice(rows);
  const { run, start, forget } = useBulk(me);
  // What has left the list is not acted on.
  const selected = useMemo(() => rows.filter((row) => chosen.has(row.id)), [rows, chosen]);
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box) setTop(Math.round(box.top + window.scrollY));
  }, []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = Math.max(0, virtual.getTotalSize() - (items.at(-1)?.end ?? top) + top);
  const act = (action: BulkAction) => void start(action, selected);
  return (
    <div className="list">
      <BulkBar
        count={count}
        shown={rows.length}
        chosen={selected}
        run={run}
        onAll={all}
        onAction={act}
        onForget={forget}
      />
      <ul
        className="rows"
        ref={list}
        aria-label={t.workspaces.title}
        style={{ paddingTop: before, paddingBottom: after }}
      >
        {items.map(({ index, key }) => {
          const workspace = rows[index];
          return (
            workspace && (
              <WorkspaceRow
                key={key}
                workspace={workspace}
                me={me}
                index={index}
                total={rows.length}
                chosen={chosen.has(workspace.id)}
                stage={stages[workspace.id]}
                outcome={run?.outcomes[workspace.id]}
                onChoose={choose}
                measure={virtual.measureElement}
              />
            )
          );
        })}
      </ul>
    </div>
  );
}
