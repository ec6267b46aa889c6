/** A text to edit, with the colours of its language. Loaded only where something is edited. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, type StateEffect } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useEditorI18n } from "@/i18n/editor";
import { languageOf } from "@/lib/highlight";
import { pageNonce } from "@/lib/nonce";
import { editorLanguage, kindClasses } from "./language";
import { type LineProblem, problemLines, showProblems } from "./problemLines";
import "./code.css";
import "./code-editor.css";

/** A place to go to; a new object goes there again. */
export interface Place {
  path: string;
  line: number;
}

interface Props {
  path: string;
  text: string;
  onChange: (path: string, text: string) => void;
  problems: readonly LineProblem[];
  place: Place | undefined;
  /** What one is told of the keyboard. */
  describedBy: string;
}

/** How the text ends its lines. Where it is not by one character, that is kept. */
const separatorOf = (text: string): Extension =>
  text.includes("\r\n") ? EditorState.lineSeparator.of("\r\n") : [];

export default function CodeEditor({ path, text, onChange, problems, place, describedBy }: Props) {
  const { t } = useEditorI18n();
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  /** Each file's own past, to undo and redo, and where one was in it. */
  const states = useRef(new Map<string, { state: EditorState; scroll: StateEffect<unknown> }>());
  const shown = useRef<string>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;

  useEffect(() => {
    if (!box.current) return;
    const kept = states.current;
    const made = new EditorView({
      parent: box.current,
      // The view makes its styles at once, before there is a file.
      extensions: EditorView.cspNonce.of(pageNonce()),
      dispatchTransactions: (transactions, self) => {
        self.update(transactions);
        if (shown.current !== undefined && transactions.some((each) => each.docChanged)) {
          changed.current(shown.current, self.state.sliceDoc());
        }
      },
    });
    view.current = made;
    return () => {
      made.destroy();
      view.current = undefined;
      shown.current = undefined;
      kept.clear();
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: words and descriptions are those of the file's first sight
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    if (shown.current === path && editor.state.sliceDoc() === text) return;
    if (shown.current !== undefined) {
      states.current.set(shown.current, { state: editor.state, scroll: editor.scrollSnapshot() });
    }
    const known = states.current.get(path);
    const fresh = () =>
      EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(pageNonce()),
          EditorState.phrases.of(t.editor.phrases),
          EditorView.contentAttributes.of({ "aria-label": path, "aria-describedby": describedBy }),
          separatorOf(text),
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of("  "),
          bracketMatching(),
          highlightSelectionMatches(),
          search({ top: true }),
          editorLanguage(languageOf(path)),
          syntaxHighlighting(kindClasses),
          problemLines,
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
        ],
      });
    shown.current = path;
    if (known && known.state.sliceDoc() === text) {
      editor.setState(known.state);
      editor.dispatch({ effects: known.scroll });
    } else {
      editor.setState(fresh());
      editor.scrollDOM.scrollTo(0, 0);
    }
  }, [path, text]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another file needs its marks
  useEffect(() => {
    if (view.current) showProblems(view.current, problems);
  }, [problems, path]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || !place || place.path !== path) return;
    const line = editor.state.doc.line(Math.min(Math.max(1, place.line), editor.state.doc.lines));
    editor.dispatch({
      selection: { anchor: line.from },
      effects: EditorView.scrollIntoView(line.from, { y: "center" }),
    });
    editor.focus();
  }, [place, path]);

  return <div className="code-editor" ref={box} />;
}
