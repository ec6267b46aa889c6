/** A log of any length: search, jump to errors, follow, times, wrap, copy, and a link to each line. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type UIEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import type { Log } from "@/api/logs";
import { useT } from "@/i18n";
import { useNarrow } from "@/lib/media";
import { matchingLines, nextIn } from "@/lib/search";
import { LogRow } from "./LogRow";
import { LogTools } from "./LogTools";
import "./log.css";

const ROW_PX = 20;
/** So close to the end one is still at the end. */
const AT_END_PX = 24;

interface Props {
  log: Log;
  /** What the log is of, for the region's name and the file's. */
  name: string;
  /** The line that the address names. */
  line?: number | undefined;
  onLine: (line: number) => void;
  /** Chooses between logs. */
  source?: ReactNode;
  notice?: ReactNode;
}

export function LogView({ log, name, line, onLine, source, notice }: Props) {
  const t = useT();
  const { lines, errors } = log;
  const narrow = useNarrow();
  const box = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const [follow, setFollow] = useState(line === undefined);
  const [wrap, setWrap] = useState(true);
  const [times, setTimes] = useState(false);
  const [query, setQuery] = useState("");
  const wanted = useDeferredValue(query);
  const [current, setCurrent] = useState<number>();

  const matches = useMemo(() => matchingLines(lines, wanted), [lines, wanted]);

  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 16,
  });

  const show = (index: number | undefined) => {
    if (index === undefined) return;
    setFollow(false);
    setCurrent(index);
    rows.scrollToIndex(index, { align: "center" });
    // On a small page the log ends below the screen, and the middle of it with it.
    if (narrow) box.current?.parentElement?.scrollIntoView({ block: "start" });
  };
  const goToMatch = (step: 1 | -1) => show(nextIn(matches, current ?? -1, step));

  // The first match is shown while one types.
  const first = matches[0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new search moves the view, not new lines
  useEffect(() => {
    if (wanted) show(first);
    else setCurrent(undefined);
  }, [wanted]);

  // The line of the address is shown once it is there.
  const linked = line !== undefined && line <= lines.length ? line - 1 : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves when the line appears or changes
  useEffect(() => {
    if (linked !== undefined) show(linked);
  }, [linked]);

  const height = rows.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines, and rows that change their height, move the end
  useEffect(() => {
    if (follow && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, lines.length, wrap, height]);

  // So does a box that gets another size; the rows are measured by then.
  useEffect(() => {
    const section = box.current;
    if (!follow || !section) return;
    const observer = new ResizeObserver(() => {
      section.scrollTop = section.scrollHeight;
    });
    observer.observe(section);
    return () => observer.disconnect();
  }, [follow]);

  const onScroll = (event: UIEvent<HTMLElement>) => {
    const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
    const up = scrollTop < lastTop.current;
    lastTop.current = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < AT_END_PX) setFollow(true);
    else if (up) setFollow(false);
  };

  return (
    <section className="log" aria-label={`${t.log.label}: ${name}`}>
      <LogTools
        log={log}
        name={name}
        source={source}
        search={{ query, setQuery, matches, current, go: goToMatch }}
        nextError={errors.length > 0 ? () => show(nextIn(errors, current ?? -1, 1)) : undefined}
        toggles={{ times, setTimes, wrap, setWrap, follow, setFollow }}
      />
      {notice}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="log-lines" ref={box} onScroll={onScroll} tabIndex={0} aria-label={name}>
        {lines.length === 0 ? (
          <p className="log-empty">
            {log.state === "ended" ? t.log.emptyEnded : log.state === "live" ? t.log.empty : t.common.loading}
          </p>
        ) : (
          <div className={`log-rows${wrap ? " log-wrap" : ""}`} style={{ height }}>
            {rows.getVirtualItems().map((row) => {
              const item = lines[row.index];
              return (
                item && (
                  <LogRow
                    key={item.id}
                    ref={wrap ? rows.measureElement : undefined}
                    index={row.index}
                    top={row.start}
                    line={item}
                    query={wanted}
                    times={times}
                    marked={row.index === current || row.index === linked}
                    onLine={onLine}
                  />
                )
              );
            })}
          </div>
        )}
      </section>
    </section>
  );
}
