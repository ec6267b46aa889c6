import { expect, test } from "vitest";
import { duration, relativeTime } from "./time";

const MINUTE = 60_000;

test("a relative time takes the unit that reads best", () => {
  for (const [difference, english, french] of [
    [-20 * MINUTE, "20 minutes ago", "il y a 20 minutes"],
    [2 * 60 * MINUTE, "in 2 hours", "dans 2 heures"],
    [-24 * 60 * MINUTE, "yesterday", "hier"],
    [-90 * 24 * 60 * MINUTE, "3 months ago", "il y a 3 mois"],
  ] as const) {
    expect([relativeTime("en", difference, 0), relativeTime("fr", difference, 0)]).toEqual([english, french]);
  }
});

test("a duration has at most two units", () => {
  for (const [ms, text] of [
    [543, "543 ms"],
    [12_400, "12 sec"],
    [200_000, "3 min 20 sec"],
    [7_500_000, "2 hr 5 min"],
    [3_600_000, "1 hr"],
    [90_000_000, "1 day 1 hr"],
  ] as const) {
    expect(duration("en", ms)).toBe(text);
  }
});
