/** Times and durations that keep themselves current. */

import { useEffect, useState } from "react";
import { useI18n } from "@/i18n";
import { duration, exactTime, nextChange, relativeTime } from "@/lib/time";

/** Now, renewed after the pause that `pause` asks for. */
export function useNow(pause: (now: number) => number): number {
  const [now, setNow] = useState(Date.now);
  const next = pause(now);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new time needs a new timer
  useEffect(() => {
    const timer = window.setTimeout(() => setNow(Date.now()), next);
    return () => window.clearTimeout(timer);
  }, [next, now]);
  return now;
}

interface TimeProps {
  at: string;
  /** Puts the time into a sentence. */
  say?: (time: string) => string;
}

/** "3 days ago"; the exact time on hover. */
export function Time({ at, say = (time) => time }: TimeProps) {
  const { language } = useI18n();
  const when = Date.parse(at);
  const now = useNow((current) => nextChange(when, current));
  return (
    <time dateTime={at} data-tip={exactTime(language, when)}>
      {say(relativeTime(language, when, now))}
    </time>
  );
}

/** From one time to another, or to now. */
export function Duration({ from, to }: { from: string; to?: string | undefined }) {
  const { language } = useI18n();
  const now = useNow(() => (to === undefined ? 1000 : 2 ** 30));
  const end = to === undefined ? now : Date.parse(to);
  return <span className="tabular">{duration(language, Math.max(0, end - Date.parse(from)))}</span>;
}
