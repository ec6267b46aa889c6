/** Lines of the editor that an import complained of. */

import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";

export interface LineProblem {
  line: number;
  message: string;
}

const setProblems = StateEffect.define<readonly LineProblem[]>();

function marks(state: EditorState, problems: readonly LineProblem[]): DecorationSet {
  const lines = new Map<number, string>();
  for (const { line, message } of problems) {
    if (line >= 1 && line <= state.doc.lines) {
      lines.set(line, [lines.get(line), message].filter(Boolean).join("\n"));
    }
  }
  return Decoration.set(
    [...lines]
      .sort(([a], [b]) => a - b)
      .map(([line, title]) =>
        Decoration.line({ class: "cm-problem", attributes: { title } }).range(state.doc.line(line).from),
      ),
  );
}

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let next = shown.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) next = marks(transaction.state, effect.value);
    }
    return next;
  },
  provide: (own) => EditorView.decorations.from(own),
});

export const problemLines: Extension = field;

export const showProblems = (view: EditorView, problems: readonly LineProblem[]) =>
  view.dispatch({ effects: setProblems.of(problems) });
