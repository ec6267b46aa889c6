/** The rows of a long list, of which only those in sight are drawn. Loaded when a list is long: it brings a library. */

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";

/** A row on a wide screen. On a narrow one each is measured, for it has several lines. */
const ROW_PX = 45;
const OVERSCAN = 6;
const estimateSize = () => ROW_PX;

export type Measure = (row: HTMLElement | null) => void;

interface Props {
  rows: readonly Workspace[];
  draw: (workspace: Workspace, index: number, measure: Measure) => ReactNode;
}

export function Windowed({ rows, draw }: Props) {
  const t = useT();
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const box = list.current?.getBoundingClientRect();
    if (box) setTop(Math.round(box.top + window.scrollY));
  }, []);
  // What the library is given anew makes it reckon all rows anew.
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey,
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = Math.max(0, virtual.getTotalSize() - (items.at(-1)?.end ?? top) + top);
  return (
    <ul
      className="rows"
      ref={list}
      aria-label={t.workspaces.title}
      style={{ paddingTop: before, paddingBottom: after }}
    >
      {items.map(({ index }) => {
        const workspace = rows[index];
        return workspace && draw(workspace, index, virtual.measureElement);
      })}
    </ul>
  );
}
