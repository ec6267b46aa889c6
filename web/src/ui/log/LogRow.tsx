/** One line of a log. */

import { memo, type Ref } from "react";
import type { LogLine } from "@/api/logs";
import { useI18n } from "@/i18n";
import { ansiPieces } from "@/lib/ansi";
import { markMatches } from "@/lib/search";

/** More of one line than this is not drawn; copy and download have all of it. */
const LONGEST = 4000;

interface Props {
  ref?: Ref<HTMLDivElement> | undefined;
  index: number;
  top: number;
  line: LogLine;
  query: string;
  times: boolean;
  marked: boolean;
  onLine: (line: number) => void;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clock(language: string): Intl.DateTimeFormat {
  let format = clocks.get(language);
  if (!format) {
    format = new Intl.DateTimeFormat(language, {
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      fractionalSecondDigits: 3,
      hourCycle: "h23",
    });
    clocks.set(language, format);
  }
  return format;
}

export const LogRow = memo(function LogRow({ ref, index, top, line, query, times, marked, onLine }: Props) {
  const { t, language } = useI18n();
  const pieces = markMatches(ansiPieces(line.text.slice(0, LONGEST)), query);
  const rest = line.text.length - LONGEST;
  const kind = line.heading ? " log-heading" : "";
  return (
    <div
      ref={ref}
      data-index={index}
      className={`log-line log-${line.level}${kind}${marked ? " log-marked" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      <button
        type="button"
        className="log-number"
        aria-label={t.log.lineNumber(index + 1)}
        tabIndex={-1}
        onClick={() => onLine(index + 1)}
      >
        {index + 1}
      </button>
      {times && (
        <time className="log-time" dateTime={line.at}>
          {clock(language).format(Date.parse(line.at))}
        </time>
      )}
      <span className="log-text">
        {pieces.map((piece, at) =>
          piece.match ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name and do not move
            <mark key={at} className={piece.style}>
              {piece.text}
            </mark>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name and do not move
            <span key={at} className={piece.style}>
              {piece.text}
            </span>
          ),
        )}
        {rest > 0 && <em>{t.log.cut(rest)}</em>}
      </span>
    </div>
  );
});
