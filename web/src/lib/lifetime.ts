/** How long a token may live. The API counts in nanoseconds. */

const MS_NS = 1_000_000;
const DAY_MS = 86_400_000;
const DAY_NS = DAY_MS * MS_NS;
const DAYS = [1, 7, 30, 60, 90, 365];
const USUAL_DAYS = 30;
/** A limit beyond this is none that one would choose. */
const FAR_NS = 10 * 365 * DAY_NS;

export interface Lifetimes {
  days: number[];
  /** The limit itself is offered: it is near, and none of the days. */
  longest: boolean;
  /** What is chosen at first. */
  usual: number | "longest";
}

/** What is offered under the server's limit. */
export function lifetimes(maxNs: number): Lifetimes {
  const days = DAYS.filter((each) => each * DAY_NS <= maxNs);
  const longest = maxNs < FAR_NS && !days.some((each) => each * DAY_NS === maxNs);
  const usual = days.includes(USUAL_DAYS) ? USUAL_DAYS : (days.at(-1) ?? "longest");
  return { days, longest, usual };
}

export const daysNs = (days: number) => days * DAY_NS;

export const nsToMs = (ns: number) => ns / MS_NS;

/** A day as date inputs have it, in the browser's zone. */
export function dayOf(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last day that a token may have, at most so far that date inputs take it. */
export function lastDay(maxNs: number, now: number): string {
  return dayOf(Math.min(now + nsToMs(maxNs), new Date(9999, 11, 31).getTime()));
}

/** From now to the end of a day, but not past the limit; `undefined` when there is nothing left of it. */
export function untilNs(day: string, maxNs: number, now: number): number | undefined {
  const [year, month, date] = day.split("-").map(Number);
  if (!year || !month || !date) return undefined;
  const end = new Date(year, month - 1, date, 23, 59, 59).getTime();
  return end > now ? Math.min((end - now) * MS_NS, maxNs) : undefined;
}
