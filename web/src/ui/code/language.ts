/** Our lexers as languages of the editor. */

import { StreamLanguage, type StringStream } from "@codemirror/language";
import { Tag, tagHighlighter } from "@lezer/highlight";
import { type Kind, type Language, LEXERS, LONGEST_LINE, type Token } from "@/lib/highlight";

const KINDS: readonly Exclude<Kind, "plain">[] = [
  "comment",
  "string",
  "inside",
  "keyword",
  "value",
  "key",
  "call",
  "heading",
  "mark",
];
const TAGS = Object.fromEntries(KINDS.map((kind) => [kind, Tag.define(kind)])) as Record<
  (typeof KINDS)[number],
  Tag
>;

/** Gives each kind its class of `code.css`. */
export const kindClasses = tagHighlighter(KINDS.map((kind) => ({ tag: TAGS[kind], class: `code-${kind}` })));

const COMMENTS: Partial<Record<Language, object>> = {
  hcl: { line: "#", block: { open: "/*", close: "*/" } },
  shell: { line: "#" },
  dockerfile: { line: "#" },
  yaml: { line: "#" },
};

interface State {
  lexer: string;
  /** What is left of the line that is being read. */
  tokens: Token[];
}

const made = new Map<Language, StreamLanguage<State>>();

/** The language, made once. */
export function editorLanguage(language: Language): StreamLanguage<State> {
  const known = made.get(language);
  if (known) return known;
  const lexer = LEXERS[language];
  const commentTokens = COMMENTS[language];
  const fresh = StreamLanguage.define<State>({
    name: language,
    tokenTable: TAGS,
    startState: () => ({ lexer: "", tokens: [] }),
    copyState: (state) => ({ lexer: state.lexer, tokens: [...state.tokens] }),
    blankLine: (state) => {
      state.lexer = lexer("", state.lexer).state;
    },
    token: (stream: StringStream, state) => {
      if (stream.sol()) {
        if (stream.string.length > LONGEST_LINE) {
          stream.skipToEnd();
          return null;
        }
        const read = lexer(stream.string, state.lexer);
        state.tokens = read.tokens;
        state.lexer = read.state;
      }
      const token = state.tokens.shift();
      if (!token) {
        stream.skipToEnd();
        return null;
      }
      stream.pos += token.text.length;
      return token.kind === "plain" ? null : token.kind;
    },
    ...(commentTokens ? { languageData: { commentTokens } } : {}),
  });
  made.set(language, fresh);
  return fresh;
}
