import { expect, test } from "vitest";
import { groupOptions, optionText } from "./options";

const OPTIONS = [
  {
    name: "Access URL",
    flag: "access-url",
    env: "CODER_ACCESS_URL",
    value: "http://x",
    value_source: "env",
    group: { name: "Networking" },
  },
  { name: "Cache", flag: "cache-dir", value: "/c", value_source: "default" },
  {
    name: "Database",
    flag: "postgres-url",
    value: null,
    value_source: "flag",
    annotations: { secret: "true" },
  },
  { name: "Inner", flag: "inner", value: 1, value_source: "default", hidden: true },
  { name: "Inner too", flag: "inner-too", value: 1, value_source: "yaml", hidden: true },
];

const names = (search: string, changed = false) =>
  groupOptions(OPTIONS, search, changed).map(({ name, options }) => [name, options.map((each) => each.flag)]);

test("settings stand in their groups, those without one first", () => {
  expect(names("")).toEqual([
    ["", ["cache-dir", "postgres-url", "inner-too"]],
    ["Networking", ["access-url"]],
  ]);
});

test("a search looks at all names, and needs all words", () => {
  expect(names("CODER_access networking")).toEqual([["Networking", ["access-url"]]]);
  expect(names("access cache")).toEqual([]);
});

test("what is as it comes can be left out", () => {
  expect(names("", true)).toEqual([
    ["", ["postgres-url", "inner-too"]],
    ["Networking", ["access-url"]],
  ]);
});

test("values are texts", () => {
  expect([optionText(null), optionText(false), optionText(["a", "b"]), optionText({ a: 1 })]).toEqual([
    "",
    "false",
    "a, b",
    '{"a":1}',
  ]);
});
