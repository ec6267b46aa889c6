/** Spans of time one under another on a common axis, each with what it consists of; as a table on request. */

import { ChevronRight, Table2 } from "lucide-react";
import { useId, useState } from "react";
import { useI18n } from "@/i18n";
import { duration } from "@/lib/time";
import { ticks } from "@/lib/timings";
import { Button } from "./Button";
import { Table } from "./Table";
import "./timeline.css";

export interface TimelineBar {
  key: string;
  name: string;
  /** What was done, or how it ended. */
  note?: string;
  from: number;
  to: number;
  failed?: boolean;
  /** How the bar is drawn; waiting is told apart from working. */
  waits?: boolean;
}

export interface TimelineRow extends TimelineBar {
  parts: TimelineBar[];
}

const MARKS = 6;
/** So wide a bar is at least, in percent: what took no time can be seen too. */
const THINNEST = 0.4;

/** A mark further along the axis than this has no room for its label. */
const LAST_LABEL = 0.88;

interface Axis {
  from: number;
  length: number;
}

function Bar({ bar, axis, inner }: { bar: TimelineBar; axis: Axis; inner?: boolean }) {
  const left = ((bar.from - axis.from) / axis.length) * 100;
  const width = Math.max(THINNEST, ((bar.to - bar.from) / axis.length) * 100);
  const look = bar.failed ? "bar-failed" : bar.waits ? "bar-waits" : "bar-works";
  return (
    <span className="timeline-track" aria-hidden>
      <span
        className={`timeline-bar ${look}${inner ? " bar-inner" : ""}`}
        style={{ left: `${Math.min(left, 100 - THINNEST)}%`, width: `${Math.min(width, 100)}%` }}
      />
    </span>
  );
}

function Row({ row, axis }: { row: TimelineRow; axis: Axis }) {
  const { language } = useI18n();
  const id = useId();
  const [open, setOpen] = useState(false);
  const took = <span className="timeline-took tabular">{duration(language, row.to - row.from)}</span>;
  return (
    <li data-stage={row.key}>
      <div className="timeline-row">
        {row.parts.length > 0 ? (
          <button
            type="button"
            className="timeline-name timeline-toggle"
            aria-expanded={open}
            aria-controls={id}
            onClick={() => setOpen(!open)}
          >
            <ChevronRight size={14} aria-hidden />
            {row.name}
          </button>
        ) : (
          <span className="timeline-name">{row.name}</span>
        )}
        <Bar bar={row} axis={axis} />
        {took}
      </div>
      {row.parts.length > 0 && (
        <ul id={id} className="timeline-parts" hidden={!open}>
          {row.parts.map((part) => (
            <li key={part.key} className="timeline-row">
              <span className="timeline-name timeline-part">
                <span className="mono">{part.name}</span>
                {part.note && <span className="muted">{part.note}</span>}
              </span>
              <Bar bar={part} axis={axis} inner />
              <span className="timeline-took tabular">{duration(language, part.to - part.from)}</span>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

export function Timeline({ label, rows }: { label: string; rows: readonly TimelineRow[] }) {
  const { t, language } = useI18n();
  const [asTable, setAsTable] = useState(false);
  const words = t.workspacePage.timeline;
  const from = Math.min(...rows.map((row) => row.from));
  const length = Math.max(1, Math.max(...rows.map((row) => row.to)) - from);
  const axis = { from, length };
  const since = (at: number) => (at === from ? "0" : `+${duration(language, at - from)}`);
  const total = duration(language, length);
  return (
    <section className="timeline" aria-label={label}>
      <div className="timeline-head">
        <h3>{label}</h3>
        <span className="muted small tabular">{words.total(total)}</span>
        <Button
          look="quiet"
          icon={Table2}
          label={words.asTable}
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
        />
      </div>
      {asTable ? (
        <Table
          label={label}
          rows={rows.flatMap((row) => [
            { ...row, part: "", id: row.key },
            ...row.parts.map((part) => ({ ...part, name: row.name, part: part.name, id: part.key })),
          ])}
          rowKey={(row) => row.id}
          columns={[
            { title: words.stage, cell: (row) => row.name },
            { title: words.part, cell: (row) => row.part && <code>{row.part}</code> },
            { title: words.note, cell: (row) => row.note },
            { title: words.from, cell: (row) => <span className="tabular">{since(row.from)}</span> },
            {
              title: words.took,
              cell: (row) => <span className="tabular">{duration(language, row.to - row.from)}</span>,
            },
          ]}
        />
      ) : (
        <>
          <div className="timeline-row timeline-axis" aria-hidden>
            <span className="timeline-name" />
            <span className="timeline-track">
              {ticks(length, MARKS).map((tick) => (
                <span key={tick} className="timeline-tick" style={{ left: `${(tick / length) * 100}%` }}>
                  {tick === 0 ? "0" : tick / length < LAST_LABEL && duration(language, tick)}
                </span>
              ))}
            </span>
            <span className="timeline-took" />
          </div>
          <ul>
            {rows.map((row) => (
              <Row key={row.key} row={row} axis={axis} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
