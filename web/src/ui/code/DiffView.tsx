/** What changed in a text, line by line; what did not change is folded away. */

import { useMemo, useState } from "react";
import { useEditorI18n } from "@/i18n/editor";
import { type DiffLine, diffLines, hunksOf } from "@/lib/diff";
import "./code.css";

/** More of one line than this is not drawn. */
const LONGEST = 4000;
/** More changed lines than this are drawn only when asked for. */
const MANY = 2000;
const SIGNS = { same: " ", added: "+", removed: "−" };

function Line({ line }: { line: DiffLine }) {
  const { t } = useEditorI18n();
  const rest = line.text.length - LONGEST;
  return (
    <div className={`diff-line diff-${line.kind}`}>
      <span className="diff-number">{line.before}</span>
      <span className="diff-number">{line.after}</span>
      <span className="diff-sign" aria-hidden>
        {SIGNS[line.kind]}
      </span>
      <span className="diff-text">
        {line.kind !== "same" && <span className="unseen">{t.editor.diff.lines[line.kind]}</span>}
        {line.text.slice(0, LONGEST)}
        {rest > 0 && <em>{t.editor.cut(rest)}</em>}
      </span>
    </div>
  );
}

interface Props {
  label: string;
  before: string;
  after: string;
}

export function DiffView({ label, before, after }: Props) {
  const { t } = useEditorI18n();
  const [whole, setWhole] = useState(false);
  const [all, setAll] = useState(false);
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const hunks = useMemo(() => (whole ? [{ skipped: 0, lines }] : hunksOf(lines)), [whole, lines]);
  let room = all ? Number.POSITIVE_INFINITY : MANY;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="code-diff" aria-label={label} tabIndex={0}>
      <div className="diff-rows">
        {hunks.map((hunk) => {
          const shown = hunk.lines.slice(0, Math.max(0, room));
          room -= hunk.lines.length;
          return (
            <div key={`${hunk.lines[0]?.before}:${hunk.lines[0]?.after}`}>
              {hunk.skipped > 0 && (
                <button type="button" className="diff-gap" onClick={() => setWhole(true)}>
                  {t.editor.diff.unchanged(hunk.skipped)}
                </button>
              )}
              {shown.map((line) => (
                <Line key={`${line.before}:${line.after}`} line={line} />
              ))}
            </div>
          );
        })}
        {room < 0 && (
          <button type="button" className="diff-gap" onClick={() => setAll(true)}>
            {t.editor.diff.more(-room)}
          </button>
        )}
      </div>
    </section>
  );
}
