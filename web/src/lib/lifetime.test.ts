import { expect, test } from "vitest";
import { dayOf, daysNs, lastDay, lifetimes, untilNs } from "./lifetime";

const HOUR_NS = 3_600_000_000_000;
const CENTURY_NS = 876_600 * HOUR_NS;
const NOON = new Date(2026, 4, 10, 12).getTime();

test("only what the server allows is offered", () => {
  expect(lifetimes(CENTURY_NS)).toEqual({ days: [1, 7, 30, 60, 90, 365], longest: false, usual: 30 });
  expect(lifetimes(daysNs(7))).toEqual({ days: [1, 7], longest: false, usual: 7 });
  expect(lifetimes(daysNs(10))).toEqual({ days: [1, 7], longest: true, usual: 7 });
  expect(lifetimes(HOUR_NS)).toEqual({ days: [], longest: true, usual: "longest" });
});

test("a lifetime reaches the API as a whole number", () => {
  expect(JSON.stringify(daysNs(365))).toBe("31536000000000000");
});

test("a day lasts until its end, within the limit", () => {
  expect(untilNs("2026-05-10", CENTURY_NS, NOON)).toBe((12 * 3600 - 1) * 1e9);
  expect(untilNs("2026-05-11", HOUR_NS, NOON)).toBe(HOUR_NS);
  expect(untilNs("2026-05-09", CENTURY_NS, NOON)).toBeUndefined();
  expect(untilNs("", CENTURY_NS, NOON)).toBeUndefined();
});

test("the last day is one that an input takes", () => {
  expect(dayOf(NOON)).toBe("2026-05-10");
  expect(lastDay(daysNs(7), NOON)).toBe("2026-05-17");
  expect(lastDay(CENTURY_NS * 1000, NOON)).toBe("9999-12-31");
});
