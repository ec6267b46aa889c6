/** Times and durations in words, by the platform's rules for the language. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The units of a relative time, each up to where the next reads better. */
const UNITS: [Intl.RelativeTimeFormatUnit, number, number][] = [
  ["second", SECOND, MINUTE],
  ["minute", MINUTE, HOUR],
  ["hour", HOUR, DAY],
  ["day", DAY, 30 * DAY],
  ["month", 30 * DAY, 365 * DAY],
  ["year", 365 * DAY, Number.POSITIVE_INFINITY],
];

/** Makes each thing once: to make a format costs more than all that it ever writes. */
function once<Made>(make: (key: string) => Made): (key: string) => Made {
  const made = new Map<string, Made>();
  return (key) => {
    let known = made.get(key);
    if (known === undefined) {
      known = make(key);
      made.set(key, known);
    }
    return known;
  };
}

const relative = once((language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
const exact = once((language) => new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" }));
const units = once((language) =>
  once((unit) => new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short" })),
);

/** "in 2 hours", "3 days ago". */
export function relativeTime(language: string, at: number, now: number): string {
  const away = at - now;
  // What lies ahead is rounded: a token of seven days expires in seven days, also a moment after it was made.
  const difference = away >= HOUR ? Math.round(away / HOUR) * HOUR : away;
  const size = Math.abs(difference);
  const [unit, length] = UNITS.find(([, , until]) => size < until) ?? ["second", SECOND];
  const amount = difference > 0 && length >= HOUR ? Math.round : Math.trunc;
  return relative(language).format(amount(difference / length), unit);
}

/** How long until the words for `at` may change. */
export function nextChange(at: number, now: number): number {
  const size = Math.abs(at - now);
  return size < MINUTE ? SECOND : size < HOUR ? 15 * SECOND : 5 * MINUTE;
}

/** Date and time, in the browser's zone. */
export function exactTime(language: string, at: number): string {
  return exact(language).format(at);
}

/** Below this half a second matters. */
const SHORT_MS = 10 * SECOND;

/** "543 ms", "1.5 sec", "12 sec", "3 min 20 sec", "2 hr 5 min". */
export function duration(language: string, ms: number): string {
  if (Math.round(ms) < SECOND) return unit(language, Math.max(0, Math.round(ms)), "millisecond");
  const tenths = Math.round(ms / 100) / 10;
  if (tenths * SECOND < SHORT_MS) return unit(language, tenths, "second");
  const total = Math.round(ms / SECOND);
  const [days, hours, minutes, seconds] = [
    Math.floor(total / 86_400),
    Math.floor(total / 3600) % 24,
    Math.floor(total / 60) % 60,
    total % 60,
  ];
  const parts: [number, string][] =
    days > 0
      ? [
          [days, "day"],
          [hours, "hour"],
        ]
      : hours > 0
        ? [
            [hours, "hour"],
            [minutes, "minute"],
          ]
        : minutes > 0
          ? [
              [minutes, "minute"],
              [seconds, "second"],
            ]
          : [[seconds, "second"]];
  return parts
    .filter(([value], index) => index === 0 || value > 0)
    .map(([value, name]) => unit(language, value, name))
    .join(" ");
}

function unit(language: string, value: number, name: string): string {
  return units(language)(name).format(value);
}

/** Whether the API means "never": it writes the year 1 then. */
export const isNever = (at: string | null | undefined): boolean => !at || at.startsWith("0001-");
