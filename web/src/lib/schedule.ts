/** The start schedule as a form has it: days, a time and a zone. The server takes `CRON_TZ=<zone> <minute> <hour> * * <days>`. */

/** Sunday is 0, as in cron. */
export type Day = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export interface StartTimes {
  days: readonly Day[];
  /** "08:30" */
  time: string;
  zone: string;
}

/** The week as people read it here, from Monday. */
export const WEEK: readonly Day[] = [1, 2, 3, 4, 5, 6, 0];
const NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const LONG_NAMES = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
/** Any Sunday at noon: days are named by the platform. */
const A_SUNDAY = Date.UTC(2023, 0, 1, 12);
const DAY_MS = 86_400_000;

function readDay(text: string): Day | undefined {
  const named = NAMES.indexOf(text.toLowerCase());
  if (named >= 0) return named as Day;
  return /^[0-7]$/.test(text) ? ((Number(text) % 7) as Day) : undefined;
}

function readDays(text: string): Day[] | undefined {
  if (text === "*") return [...WEEK];
  const days = new Set<Day>();
  for (const part of text.split(",")) {
    const [from, to, more] = part.split("-");
    const first = readDay(from ?? "");
    const last = to === undefined ? first : readDay(to);
    if (first === undefined || last === undefined || more !== undefined) return undefined;
    // "5-7" ends on Sunday.
    for (let day: number = first; ; day = (day + 1) % 7) {
      days.add(day as Day);
      if (day === last) break;
    }
  }
  return WEEK.filter((day) => days.has(day));
}

/** `undefined` for a schedule that says more than the form can, such as two times a day. */
export function readSchedule(text: string): StartTimes | undefined {
  const fields = text.trim().split(/\s+/);
  const zone = fields[0]?.startsWith("CRON_TZ=") ? fields.shift()?.slice("CRON_TZ=".length) : "UTC";
  const [minute = "", hour = "", , , weekdays = ""] = fields;
  if (fields.length !== 5 || !/^\d{1,2}$/.test(minute) || !/^\d{1,2}$/.test(hour) || !zone) return undefined;
  const days = readDays(weekdays);
  return days && { days, time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`, zone };
}

/** Runs of three and more are written as one. */
function runs(places: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && place === last[1] + 1) last[1] = place;
    else found.push([place, place]);
  }
  return found.flatMap(([from, to]): [number, number][] =>
    to === from + 1
      ? [
          [from, from],
          [to, to],
        ]
      : [[from, to]],
  );
}

export function writeSchedule({ days, time, zone }: StartTimes): string {
  const [hour = "0", minute = "0"] = time.split(":");
  const weekdays =
    days.length === 7
      ? "*"
      : runs(days)
          .map(([from, to]) => (from === to ? String(from) : `${from}-${to}`))
          .join(",");
  return `CRON_TZ=${zone} ${Number(minute)} ${Number(hour)} * * ${weekdays}`;
}

export function dayName(language: string, day: Day, width: "short" | "long" = "short"): string {
  return new Intl.DateTimeFormat(language, { weekday: width, timeZone: "UTC" }).format(
    A_SUNDAY + day * DAY_MS,
  );
}

/** "Mon–Fri", "Mon, Wed and Fri". */
export function daysInWords(language: string, days: readonly Day[]): string {
  const places = days.map((day) => WEEK.indexOf(day));
  const name = (place: number) => dayName(language, WEEK[place] ?? 0);
  return new Intl.ListFormat(language).format(
    runs(places).map(([from, to]) => (from === to ? name(from) : `${name(from)}–${name(to)}`)),
  );
}

/** The days that the API names in words; none at all means every day. */
export function daysOf(names: readonly string[]): Day[] {
  const days = WEEK.filter((day) => names.includes(LONG_NAMES[day] ?? ""));
  return days.length > 0 ? days : [...WEEK];
}

/** All zones that the browser knows, and those that are named besides. */
export function timeZones(...besides: string[]): string[] {
  return [...new Set([...besides, "UTC", ...Intl.supportedValuesOf("timeZone")])].sort();
}

export const HOUR_MS = 3_600_000;
