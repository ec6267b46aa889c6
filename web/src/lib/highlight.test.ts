// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what is read here
import { expect, test } from "vitest";
import { highlight, type Kind, type Language, LEXERS, LONGEST_LINE, languageOf } from "./highlight";

/** All pieces of one kind. */
const found = (language: Language, text: string, kind: Kind) =>
  highlight(text.split("\n"), language).flatMap((tokens) =>
    tokens.filter((token) => token.kind === kind).map((token) => token.text.trim()),
  );

test("languages are known by the names of files", () => {
  const of = [
    "main.tf",
    "a/x.tfvars",
    "run.sh",
    "Dockerfile",
    "build/Dockerfile.dev",
    "a.json",
    "b.yml",
    "README.md",
  ];
  expect(of.map(languageOf)).toEqual([
    "hcl",
    "hcl",
    "shell",
    "dockerfile",
    "dockerfile",
    "json",
    "yaml",
    "markdown",
  ]);
  expect(["LICENSE", "a.txt", ".terraform.lock.hcl"].map(languageOf)).toEqual(["plain", "plain", "hcl"]);
});

const HCL = `resource "coder_agent" "main" { # the agent
  arch = "x\${lookup(a, "b")}y" // here
  count = 1
  /* a
  b */ dir = pathexpand("~")
  script = <<-EOT
    echo "\${local.name}" # text
  EOT
  on = true
}`;

test("HCL: blocks, keys, strings with expressions, comments and heredocs", () => {
  expect(found("hcl", HCL, "keyword")).toEqual(["resource"]);
  expect(found("hcl", HCL, "key")).toEqual(["arch", "count", "dir", "script", "on"]);
  expect(found("hcl", HCL, "inside")).toEqual(['${lookup(a, "b")}', "${local.name}"]);
  expect(found("hcl", HCL, "comment")).toEqual(["# the agent", "// here", "/* a", "b */"]);
  expect(found("hcl", HCL, "value")).toEqual(["1", "true"]);
  expect(found("hcl", HCL, "call")).toEqual(["pathexpand"]);
  expect(found("hcl", HCL, "mark")).toEqual(["<<-EOT", "EOT"]);
  expect(found("hcl", 'a = "$${b} c"', "inside")).toEqual([]);
});

test("shell: strings over lines, variables, comments that are none", () => {
  const text = "if [ -n \"$a\" ]; then\n  x='it\nis' # no\n  echo a#b ${c}\ncat <<'END'\n$d\nEND\nfi";
  expect(found("shell", text, "keyword")).toEqual(["if", "then", "fi"]);
  expect(found("shell", text, "inside")).toEqual(["$a", "${c}", "$d"]);
  expect(found("shell", text, "comment")).toEqual(["# no"]);
  expect(found("shell", text, "string").join("|")).toContain("'it|is'");
});

test("Dockerfile, JSON, YAML and Markdown", () => {
  expect(found("dockerfile", "FROM a AS b\nRUN x \\\n  from y\nENV A=1", "keyword")).toEqual([
    "FROM",
    "AS",
    "RUN",
    "ENV",
  ]);
  expect(found("json", '{"a": "b", "c": [1, null]}', "key")).toEqual(['"a"', '"c"']);
  expect(found("json", '{"a": "b", "c": [1, null]}', "value")).toEqual(["1", "null"]);
  const yaml = 'a: "x" # c\nb: |\n  c: d\ne: true\n- f: 1';
  expect(found("yaml", yaml, "key")).toEqual(["a", "b", "e", "f"]);
  expect(found("yaml", yaml, "string")).toEqual(['"x"', "c: d"]);
  const markdown = "---\nname: x\n---\n# Title\n- see [it](u) `c`\n```sh\n# no title\n```\n---";
  expect(found("markdown", markdown, "heading")).toEqual(["# Title"]);
  expect(found("markdown", markdown, "key")).toEqual(["name", "[it]"]);
  expect(found("markdown", markdown, "string")).toEqual(["`c`", "# no title"]);
});

test("whatever is in a line, all of it comes out again, and soon", () => {
  const hostile = [
    '"${"${"${"',
    "<<<<EOF",
    "\\",
    "'",
    '"',
    "`",
    "[[[[(((",
    "/*",
    "${{{{",
    "&*!",
    "---",
    "\u0000\u202e",
    " ",
  ];
  for (const [language, lexer] of Object.entries(LEXERS)) {
    for (const piece of hostile) {
      for (const line of [piece, piece.repeat(500), `a = ${piece}`, `${piece} b`]) {
        for (const state of [
          "",
          "comment",
          "heredoc:EOF",
          "single",
          "double",
          "block:0",
          "front",
          "fence:```",
        ]) {
          const { tokens } = lexer(line, state);
          expect(tokens.map((token) => token.text).join(""), `${language}: ${line.slice(0, 20)}`).toBe(line);
        }
      }
    }
  }
  const long = "x".repeat(LONGEST_LINE + 1);
  expect(highlight([long], "hcl")).toEqual([[{ text: long, kind: "plain" }]]);
});
