/** Days as the API names them, `2026-01-31`, and numbers by day without gaps. */

import type { Point } from "@/ui/Chart";

const DAY_MS = 86_400_000;

/** The day that a time is in, in the browser's zone. */
export function dayOf(time: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** The last `count` days up to `today`; the server leaves out days of which it knows nothing. */
export function lastDays(
  entries: readonly { date: string; amount: number }[],
  count: number,
  today: string,
): Point[] {
  const known = new Map(entries.map((entry) => [entry.date.slice(0, 10), entry.amount]));
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(end - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return { day, value: known.get(day) ?? 0 };
  });
}
