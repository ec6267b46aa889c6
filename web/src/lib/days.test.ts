import { expect, test } from "vitest";
import { scaleTop } from "@/ui/Chart";
import { dayOf, lastDays } from "./days";

test("days without users are there too, across the end of a month", () => {
  const entries = [
    { date: "2026-02-27", amount: 9 },
    { date: "2026-02-28", amount: 2 },
    { date: "2026-03-02", amount: 5 },
  ];
  expect(lastDays(entries, 3, "2026-03-02")).toEqual([
    { day: "2026-02-28", value: 2 },
    { day: "2026-03-01", value: 0 },
    { day: "2026-03-02", value: 5 },
  ]);
  expect(dayOf(new Date(2026, 0, 5, 23, 59))).toBe("2026-01-05");
});

test("a chart's scale ends at a number that reads well", () => {
  expect([[], [0], [3], [5], [9], [11], [37], [120], [999]].map(scaleTop)).toEqual([
    4, 4, 4, 5, 10, 20, 40, 200, 1000,
  ]);
});
