/** Style sheets of visited pages stay loaded, so a class has one meaning in all of them. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8");
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
const sheets = files.filter((path) => path.endsWith(".css"));

/** The selectors of a style sheet, one by one. */
const selectorsOf = (css: string): string[] =>
  [...css.replace(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{/g)]
    .map(([, head = ""]) => head.trim())
    .filter((head) => !head.startsWith("@"))
    .flatMap((head) => head.split(",").map((each) => each.trim()));

const classesOf = (selector: string) => [
  ...new Set([...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = ""]) => name)),
];

/** The style sheets that say what a class looks like by itself, without another class around or beside it. */
const owners = new Map<string, Set<string>>();
for (const sheet of sheets) {
  for (const selector of selectorsOf(read(sheet))) {
    const [name, other] = classesOf(selector);
    if (name && !other) owners.set(name, (owners.get(name) ?? new Set()).add(sheet));
  }
}

test("the selectors of a style sheet are found", () => {
  expect(selectorsOf("/* .x {} */ .a > b, .c.d { e: f } @media (x) { .g:not(.h) { i: j } }")).toEqual([
    ".a > b",
    ".c.d",
    ".g:not(.h)",
  ]);
  expect(sheets).toContain("ui/button.css");
  expect(owners.get("button")).toEqual(new Set(["ui/button.css"]));
});

test("no class has a meaning in two style sheets", () => {
  const twice = [...owners].filter(([, all]) => all.size > 1).map(([name, all]) => [name, ...all]);
  expect(twice).toEqual([]);
});

test("no animation has a name in two style sheets", () => {
  const names = sheets.flatMap((sheet) =>
    [...read(sheet).matchAll(/@keyframes ([\w-]+)/g)].map(([, name]) => name),
  );
  expect(names).toEqual([...new Set(names)]);
});

test("a page has no class of another area's pages", () => {
  const area = (path: string) => /^pages\/[^/]+(?=\/)/.exec(`${dirname(path)}/`)?.[0];
  const foreign: string[] = [];
  for (const path of files.filter((each) => each.endsWith(".tsx"))) {
    for (const [, text = ""] of read(path).matchAll(/className="([^"]*)"/g)) {
      for (const name of text.split(" ")) {
        for (const sheet of owners.get(name) ?? []) {
          const of = area(sheet);
          if (of && of !== area(path)) foreign.push(`${path}: ${name} of ${sheet}`);
        }
      }
    }
  }
  expect(foreign).toEqual([]);
});
