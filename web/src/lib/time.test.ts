import { expect, test } from "vitest";
import { duration, relativeTime } from "./time";

const MINUTE = 60_000;

test("a relative time takes the unit that reads best", () => {
  for (const [difference, english, french] of [
    [-20 * MINUTE, "20 minutes ago", "il y a 20 minutes"],
    [2 * 60 * MINUTE, "in 2 hours", "dans 2 heures"],
    [-24 * 60 * MINUTE, "yesterday", "hier"],
    [-90 * 24 * 60 * MINUTE, "3 months ago", "il y a 3 mois"],
    [7 * 24 * 60 * MINUTE - 4000, "in 7 days", "dans 7 jours"],
    [2 * 60 * MINUTE - 4000, "in 2 hours", "dans 2 heures"],
    [-(2 * 60 * MINUTE - 4000), "1 hour ago", "il y a 1 heure"],
    [24 * 60 * MINUTE - 4000, "tomorrow", "demain"],
    [60 * MINUTE - 4000, "in 59 minutes", "dans 59 minutes"],
  ] as const) {
    expect([relativeTime("en", difference, 0), relativeTime("fr", difference, 0)]).toEqual([english, french]);
  }
});

test("a duration has at most two units", () => {
  for (const [ms, text] of [
    [-3, "0 ms"],
    [543, "543 ms"],
    [999.6, "1 sec"],
    [1000, "1 sec"],
    [1499, "1.5 sec"],
    [2000, "2 sec"],
    [9940, "9.9 sec"],
    [9960, "10 sec"],
    [12_400, "12 sec"],
    [200_000, "3 min 20 sec"],
    [7_500_000, "2 hr 5 min"],
    [3_600_000, "1 hr"],
    [90_000_000, "1 day 1 hr"],
  ] as const) {
    expect(duration("en", ms)).toBe(text);
  }
});

test("marks of an axis are told apart", () => {
  expect([0, 500, 1000, 1500, 2000].map((ms) => duration("fr", ms).replace(/\s/, " "))).toEqual([
    "0 ms",
    "500 ms",
    "1 s",
    "1,5 s",
    "2 s",
  ]);
});
