/** A file to read: line numbers that are links, and the colours of its language. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { useEditorI18n } from "@/i18n/editor";
import { linesOf } from "@/lib/diff";
import { highlight, languageOf, type Token } from "@/lib/highlight";
import "./code.css";

const ROW_PX = 20;
/** More of one line than this is not drawn. */
const LONGEST = 4000;

/** The first so many characters of a line. */
export function cut(tokens: readonly Token[]): { tokens: Token[]; rest: number } {
  let room = LONGEST;
  let rest = 0;
  const shown: Token[] = [];
  for (const token of tokens) {
    const text = token.text.slice(0, room);
    if (text) shown.push({ ...token, text });
    room -= text.length;
    rest += token.text.length - text.length;
  }
  return { tokens: shown, rest };
}

interface Props {
  path: string;
  text: string;
  /** The line that the address names. */
  line?: number | undefined;
  onLine: (line: number) => void;
}

export function CodeView({ path, text, line, onLine }: Props) {
  const { t } = useEditorI18n();
  const box = useRef<HTMLElement>(null);
  const lines = useMemo(() => highlight(linesOf(text), languageOf(path)), [path, text]);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 30,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view moves when the address or the file changes
  useEffect(() => {
    if (line !== undefined && line <= lines.length) rows.scrollToIndex(line - 1, { align: "center" });
  }, [line, path, lines]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="code" ref={box} tabIndex={0} aria-label={path}>
      <div className="code-rows" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const { tokens, rest } = cut(lines[row.index] ?? []);
          const number = row.index + 1;
          return (
            <div
              key={row.key}
              className={`code-line${number === line ? " code-marked" : ""}`}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              <button
                type="button"
                className="code-number"
                tabIndex={-1}
                aria-label={t.log.lineNumber(number)}
                onClick={() => onLine(number)}
              >
                {number}
              </button>
              <span className="code-text">
                {tokens.map((token, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name and do not move
                  <span key={at} className={token.kind === "plain" ? undefined : `code-${token.kind}`}>
                    {token.text}
                  </span>
                ))}
                {rest > 0 && <em>{t.editor.cut(rest)}</em>}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}
