import { expect, test } from "vitest";
import { completions, isWhole, queryValue, terms, withValue } from "./query";

const KEYS = [
  {
    key: "status",
    hint: "state",
    values: [
      ["active", "Active"],
      ["dormant", "Dormant"],
    ],
  },
  { key: "search", hint: "part of a name" },
] as const;

test("terms are those that the server reads", () => {
  expect(terms('my ws owner:"jo do" STATUS:a,b').map(({ key, value }) => [key, value])).toEqual([
    [undefined, "my"],
    [undefined, "ws"],
    ["owner", "jo do"],
    ["status", "a,b"],
  ]);
  expect(terms('"a:b" last_seen_after:2026-01-02T03:04:05Z').map(({ key, value }) => [key, value])).toEqual([
    [undefined, "a:b"],
    ["last_seen_after", "2026-01-02T03:04:05Z"],
  ]);
});

test("a value is changed where it stands, and the rest stays", () => {
  expect(withValue("ada status:active role:owner", "status", "dormant")).toBe(
    "ada status:dormant role:owner",
  );
  expect(withValue("ada status:active", "status", "")).toBe("ada");
  expect(withValue("", "resource_target", "a b")).toBe('resource_target:"a b"');
  expect(withValue("status:a status:b", "status", "c")).toBe("status:c");
  expect([queryValue('x:"a b"', "x"), queryValue("x", "x")]).toEqual(["a b", ""]);
});

test("what the server would refuse is not whole yet", () => {
  for (const [text, whole] of [
    ["status:", false],
    [":x", false],
    ['name:"a', false],
    ['name:"a b" status:x', true],
    ["", true],
  ] as const) {
    expect(isWhole(text), text).toBe(whole);
  }
});

test("keys are completed, but none twice", () => {
  expect(completions("", 0, KEYS).map(({ text }) => text)).toEqual(["status:", "search:"]);
  expect(completions("status:active s", 15, KEYS)).toEqual([
    { text: "status:active search:", cursor: 21, shown: "search:", hint: "part of a name" },
  ]);
});

test("values are completed, also in the middle", () => {
  expect(completions("status:do rest", 9, KEYS)).toEqual([
    { text: "status:dormant rest", cursor: 15, shown: "dormant", hint: "Dormant" },
  ]);
  expect(completions("status:active", 13, KEYS)).toEqual([]);
  expect(completions("other:x", 7, KEYS)).toEqual([]);
});
