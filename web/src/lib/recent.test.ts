import { beforeEach, expect, test, vi } from "vitest";
import { recent } from "./recent";

let stored: Map<string, string>;

beforeEach(() => {
  stored = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
});

test("the last five are kept, each once", () => {
  const mine = recent("one");
  for (const id of ["a", "b", "c", "d", "e", "f", "c"]) mine.add(id);
  expect(mine.get()).toEqual(["c", "f", "e", "d", "b"]);
  expect(recent("other").get()).toEqual([]);
});

test("what is broken is nothing", () => {
  for (const text of ["{", '"x"', "[1,{}]"]) {
    stored.set("coder.recent.one", text);
    expect(recent("one").get()).toEqual([]);
  }
});
