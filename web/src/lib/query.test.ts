import { expect, test } from "vitest";
import { queryValue, terms, withValue } from "./query";

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
