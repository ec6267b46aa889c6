import { parseSearchWith, stringifySearchWith } from "@tanstack/react-router";
import { expect, test } from "vitest";
import { exactJson, openLink, prefill, readDuplicate } from "./address";

const parse = parseSearchWith(exactJson);
const write = stringifySearchWith(JSON.stringify, exactJson);

test("values of a link reach the form as they were written", () => {
  const values = {
    version: "3.10",
    number: "10",
    text: "a b&c=d",
    flag: "true",
    list: '["a", "b"]',
    tight: '["a","b"]',
    zeros: "007",
    power: "1e3",
    empty: "",
    quoted: '"x"',
    big: "12345678901234567890",
    nothing: "null",
  };
  const link = openLink({ origin: "https://coder.example", template: "t", name: "dev", values, auto: false });
  const search = prefill(parse(new URL(link).search));
  expect(search.name).toBe("dev");
  // The router writes addresses anew; what it wrote reads the same.
  const again = prefill(parse(write(search)));
  for (const [name, value] of Object.entries(values)) {
    expect([name, search[`param.${name}`]]).toEqual([name, value]);
    expect([name, again[`param.${name}`]]).toEqual([name, value]);
  }
});

test("only what prefills the form is taken from an address", () => {
  expect(prefill({ name: "a", other: "b", "param.x": true, mode: "auto", redirect: "//evil" })).toEqual({
    name: "a",
    "param.x": "true",
    mode: "auto",
  });
});

test("a link keeps what it is given in its place", () => {
  const link = openLink({
    origin: "https://coder.example",
    template: "a/b?c",
    name: "",
    values: { "x&mode": "auto#" },
    auto: true,
  });
  const url = new URL(link);
  expect(url.pathname).toBe("/templates/a%2Fb%3Fc/workspace");
  expect([...url.searchParams]).toEqual([
    ["mode", "auto"],
    ["param.x&mode", "auto#"],
  ]);
});

test("a workspace to duplicate is named by owner and name", () => {
  expect(readDuplicate("me/dev")).toEqual({ owner: "me", name: "dev" });
  for (const bad of [undefined, "", "dev", "a/b/c", "/b", "a/"]) expect(readDuplicate(bad)).toBeUndefined();
});
