/**
 * Colours for the languages of templates. A lexer reads line by line and keeps in a short text what goes on in the next
 * line, so that the viewer and the editor share it. It colours; it does not judge.
 */

/** What a piece of code is; the class `code-<kind>` gives it a colour. */
export type Kind =
  | "comment"
  | "string"
  | "inside"
  | "keyword"
  | "value"
  | "key"
  | "call"
  | "heading"
  | "mark"
  | "plain";

export interface Token {
  text: string;
  kind: Kind;
}

/** Reads one line, given the state after the line before; "" at the start of a file. */
export type Lexer = (line: string, state: string) => { tokens: Token[]; state: string };

export type Language = "hcl" | "shell" | "dockerfile" | "json" | "yaml" | "markdown" | "plain";

/** The language of a file, by its name. */
export function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (/^(dockerfile|containerfile)(\..*)?$|\.dockerfile$/.test(name)) return "dockerfile";
  if (/\.(tf|tfvars|hcl|tofu|pkr)$/.test(name)) return "hcl";
  if (/\.(sh|bash|zsh|ksh|tftpl|tpl)$|^\.?(bash|zsh|profile)(rc|_profile)?$/.test(name)) return "shell";
  if (/\.(json|tfstate)$/.test(name)) return "json";
  if (/\.ya?ml$/.test(name)) return "yaml";
  if (/\.(md|markdown)$/.test(name)) return "markdown";
  return "plain";
}

/** Collects tokens; neighbours of one kind become one. */
class Line {
  readonly tokens: Token[] = [];
  at = 0;

  constructor(readonly text: string) {}

  get done(): boolean {
    return this.at >= this.text.length;
  }

  /** Takes everything up to `end` as one piece. */
  take(end: number, kind: Kind) {
    const text = this.text.slice(this.at, end);
    if (text === "") return;
    const last = this.tokens.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.tokens.push({ text, kind });
    this.at = end;
  }

  rest(kind: Kind) {
    this.take(this.text.length, kind);
  }

  /** What a sticky pattern finds here. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
  }

  /** Takes what the first fitting pattern finds, or one character. */
  rules(rules: readonly (readonly [RegExp, Kind])[]) {
    for (const [pattern, kind] of rules) {
      const found = this.match(pattern);
      if (found && found[0] !== "") return this.take(this.at + found[0].length, kind);
    }
    this.take(this.at + 1, "plain");
  }
}

/** The end of `${…}` or `%{…}` that opens at `from`, with the strings and braces in it. */
function insideEnd(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === "\\") at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === "{") depth += 1;
    else if (!quoted && char === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

/** Text with `${…}` in it, up to `end`. */
function template(line: Line, end: number) {
  while (line.at < end) {
    const open = /[$%]\{/g;
    open.lastIndex = line.at;
    const found = open.exec(line.text);
    if (!found || found.index >= end) return line.take(end, "string");
    const doubled = line.text[found.index - 1] === line.text[found.index];
    line.take(doubled ? found.index + 2 : found.index, "string");
    if (!doubled) line.take(Math.min(end, insideEnd(line.text, found.index)), "inside");
  }
}

/** The end of a string that opens at `from`, quotes in `${…}` left out. */
function quotedEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if ((char === "$" || char === "%") && text[at + 1] === "{" && text[at - 1] !== char)
      at = insideEnd(text, at) - 1;
    else if (char === '"') return at + 1;
  }
  return text.length;
}

const HCL_RULES: [RegExp, Kind][] = [
  [/(?:#|\/\/).*/y, "comment"],
  [/(?:true|false|null)\b/y, "value"],
  [/-?\d[\d.]*(?:[eE][+-]?\d+)?/y, "value"],
  [/(?:for|in|if|else|endif|endfor)\b(?!\s*=[^=>])/y, "keyword"],
  [/[A-Za-z_][\w-]*(?=\s*\()/y, "call"],
  [/[A-Za-z_][\w-]*(?=\s*=(?![=>]))/y, "key"],
  [/[A-Za-z_][\w-]*/y, "plain"],
  [/\s+/y, "plain"],
];

const hcl: Lexer = (text, state) => {
  const line = new Line(text);
  let next = state;
  const comment = () => {
    const end = text.indexOf("*/", line.at);
    next = end < 0 ? "comment" : "";
    line.take(end < 0 ? text.length : end + 2, "comment");
  };
  if (state.startsWith("heredoc:")) {
    if (text.trim() === state.slice("heredoc:".length)) {
      line.rest("mark");
      return { tokens: line.tokens, state: "" };
    }
    template(line, text.length);
    return { tokens: line.tokens, state };
  }
  if (state === "comment") comment();
  // A word at the start of a line that a label or a brace follows opens a block.
  const block =
    line.at === 0 ? line.match(/(\s*)([A-Za-z_][\w-]*)(?=\s*(?:"|\{|[A-Za-z_][\w-]*\s*\{))/y) : null;
  if (block) {
    line.take(line.at + (block[1]?.length ?? 0), "plain");
    line.take(line.at + (block[2]?.length ?? 0), "keyword");
  }
  while (!line.done) {
    const heredoc = line.match(/<<-?\s*([A-Za-z_][\w-]*)\s*$/y);
    if (text.startsWith("/*", line.at)) comment();
    else if (heredoc) {
      line.rest("mark");
      next = `heredoc:${heredoc[1]}`;
    } else if (text[line.at] === '"') template(line, quotedEnd(text, line.at));
    else line.rules(HCL_RULES);
  }
  return { tokens: line.tokens, state: next };
};

const SHELL_RULES: [RegExp, Kind][] = [
  [/\$(?:\{[^}]*\}?|[\w@*#?$!-])/y, "inside"],
  [/(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|function|select|time)(?![\w-])/y, "keyword"],
  [
    /(?:export|local|readonly|return|exit|set|unset|trap|exec|eval|source|shift|break|continue)(?![\w-])/y,
    "call",
  ],
  [/[A-Za-z_]\w*(?==)/y, "key"],
  [/\\./y, "plain"],
  [/[\w./:@%+,=-]+/y, "plain"],
  [/\s+/y, "plain"],
];

/** Variables in text that the shell looks into, up to `end`. */
function expanded(line: Line, end: number) {
  while (line.at < end) {
    const found = /(?<!\\)\$(?:\{[^}]*\}?|\w+|[@*#?$!-])/g;
    found.lastIndex = line.at;
    const variable = found.exec(line.text);
    if (!variable || variable.index >= end) return line.take(end, "string");
    line.take(variable.index, "string");
    line.take(Math.min(end, variable.index + variable[0].length), "inside");
  }
}

const shell: Lexer = (text, state) => {
  const line = new Line(text);
  let next = state;
  const single = () => {
    const end = text.indexOf("'", line.at);
    next = end < 0 ? "single" : "";
    line.take(end < 0 ? text.length : end + 1, "string");
  };
  const double = () => {
    const end = /(?:[^"\\]|\\.)*"/y;
    end.lastIndex = line.at;
    const found = end.exec(text);
    next = found ? "" : "double";
    expanded(line, found ? line.at + found[0].length : text.length);
  };
  if (state.startsWith("heredoc:")) {
    if (text.trim() === state.slice("heredoc:".length)) {
      line.rest("mark");
      return { tokens: line.tokens, state: "" };
    }
    expanded(line, text.length);
    return { tokens: line.tokens, state };
  }
  if (state === "single") single();
  else if (state === "double") double();
  let heredoc = "";
  while (!line.done) {
    const here = line.match(/<<-?\s*(['"]?)([A-Za-z_]\w*)\1/y);
    const before = text[line.at - 1];
    if (text[line.at] === "#" && (before === undefined || /[\s;|&(]/.test(before))) line.rest("comment");
    else if (here && before !== "<") {
      line.take(line.at + here[0].length, "mark");
      heredoc = `heredoc:${here[2]}`;
    } else if (text[line.at] === "'") {
      line.take(line.at + 1, "string");
      single();
    } else if (text[line.at] === '"') {
      line.take(line.at + 1, "string");
      double();
    } else line.rules(SHELL_RULES);
  }
  return { tokens: line.tokens, state: next || heredoc };
};

const DOCKERFILE_RULES: [RegExp, Kind][] = [
  [/"(?:[^"\\]|\\.)*"?/y, "string"],
  [/'[^']*'?/y, "string"],
  [/\$(?:\{[^}]*\}?|\w+)/y, "inside"],
  [/--[\w-]+(?==)/y, "key"],
  [/(?:AS|as)\b(?=\s+\S)/y, "keyword"],
  [/[A-Za-z_]\w*(?==)/y, "key"],
  [/[^\s"'$=]+/y, "plain"],
  [/\s+/y, "plain"],
];
const INSTRUCTION =
  /\s*(?:ONBUILD\s+)?(?:FROM|RUN|CMD|LABEL|MAINTAINER|EXPOSE|ENV|ADD|COPY|ENTRYPOINT|VOLUME|USER|WORKDIR|ARG|STOPSIGNAL|HEALTHCHECK|SHELL)\b/iy;

const dockerfile: Lexer = (text, state) => {
  const line = new Line(text);
  if (/^\s*#/.test(text)) {
    line.rest("comment");
    return { tokens: line.tokens, state };
  }
  const instruction = state === "" ? line.match(INSTRUCTION) : null;
  if (instruction) line.take(instruction[0].length, "keyword");
  while (!line.done) line.rules(DOCKERFILE_RULES);
  return { tokens: line.tokens, state: /\\\s*$/.test(text) ? "more" : "" };
};

const JSON_RULES: [RegExp, Kind][] = [
  [/"(?:[^"\\]|\\.)*"(?=\s*:)/y, "key"],
  [/"(?:[^"\\]|\\.)*"?/y, "string"],
  [/-?\d[\d.]*(?:[eE][+-]?\d+)?/y, "value"],
  [/(?:true|false|null)\b/y, "value"],
  [/[\s{}[\],:]+/y, "plain"],
  [/\w+/y, "plain"],
];

const json: Lexer = (text, state) => {
  const line = new Line(text);
  while (!line.done) line.rules(JSON_RULES);
  return { tokens: line.tokens, state };
};

const YAML_RULES: [RegExp, Kind][] = [
  [/(?<=^|\s)#.*/y, "comment"],
  [/"(?:[^"\\]|\\.)*"?/y, "string"],
  [/(?<=^|[\s[,{:])'(?:[^']|'')*'?/y, "string"],
  [/(?<=^|[\s[,{])(?:true|false|null|yes|no|~)(?=$|[\s,\]}])/y, "value"],
  [/(?<=^|[\s[,{])-?\d[\d.]*(?=$|[\s,\]}])/y, "value"],
  [/(?<=^|\s)[&*!][\w!-]+/y, "mark"],
  [/[^\s#"',[\]{}]+/y, "plain"],
  [/\s+/y, "plain"],
];

const yaml: Lexer = (text, state) => {
  const line = new Line(text);
  const indent = text.length - text.trimStart().length;
  if (state.startsWith("block:")) {
    if (text.trim() === "" || indent > Number(state.slice("block:".length))) {
      line.rest("string");
      return { tokens: line.tokens, state };
    }
  }
  if (/^(---|\.\.\.)\s*$/.test(text)) {
    line.rest("mark");
    return { tokens: line.tokens, state: "" };
  }
  const key = line.match(/(\s*(?:-\s+)*)("[^"]*"|'[^']*'|[^\s#'"[\]{},][^#:]*)(?=:(?:\s|$))/y);
  if (key) {
    line.take(key[1]?.length ?? 0, "plain");
    line.take(line.at + (key[2]?.length ?? 0), "key");
  }
  while (!line.done) line.rules(YAML_RULES);
  return { tokens: line.tokens, state: /(?:^|[\s:])[|>][+-]?\d?\s*$/.test(text) ? `block:${indent}` : "" };
};

const MARKDOWN_RULES: [RegExp, Kind][] = [
  [/`[^`]*`?/y, "string"],
  [/\*\*[^*]+\*\*|__[^_]+__/y, "mark"],
  [/!?\[[^\]]*\](?=\()/y, "key"],
  [/(?<=\])\([^)]*\)/y, "inside"],
  [/<?https?:\/\/[^\s>)]+>?/y, "inside"],
  [/[^`*_![\]<h(]+/y, "plain"],
];

/** Front matter and blocks of code are told by their state; "" is before the first line, "text" is anywhere else. */
const markdown: Lexer = (text, state) => {
  const line = new Line(text);
  if (state === "front") {
    const end = /^---\s*$/.test(text);
    if (end) line.rest("mark");
    return { tokens: end ? line.tokens : yaml(text, "").tokens, state: end ? "text" : "front" };
  }
  if (state === "" && /^---\s*$/.test(text)) {
    line.rest("mark");
    return { tokens: line.tokens, state: "front" };
  }
  const fence = /^\s*(```+|~~~+)/.exec(text)?.[1]?.slice(0, 3);
  if (state.startsWith("fence:")) {
    const end = fence === state.slice("fence:".length);
    line.rest(end ? "mark" : "string");
    return { tokens: line.tokens, state: end ? "text" : state };
  }
  if (fence) {
    line.rest("mark");
    return { tokens: line.tokens, state: `fence:${fence}` };
  }
  if (/^#{1,6}\s/.test(text)) line.rest("heading");
  const list = line.done ? null : line.match(/\s*(?:[-*+]|\d+[.)]|>)(?=\s)/y);
  if (list) line.take(list[0].length, "keyword");
  while (!line.done) line.rules(MARKDOWN_RULES);
  return { tokens: line.tokens, state: "text" };
};

const plain: Lexer = (text, state) => ({ tokens: text ? [{ text, kind: "plain" }] : [], state });

export const LEXERS: Record<Language, Lexer> = { hcl, shell, dockerfile, json, yaml, markdown, plain };

/** A line longer than this is not coloured: nobody reads it, and patterns would take their time. */
export const LONGEST_LINE = 4000;

/** All lines of a text with their colours. */
export function highlight(lines: readonly string[], language: Language): Token[][] {
  const lexer = LEXERS[language];
  let state = "";
  return lines.map((line) => {
    if (line.length > LONGEST_LINE) return [{ text: line, kind: "plain" }];
    const read = lexer(line, state);
    state = read.state;
    return read.tokens;
  });
}
