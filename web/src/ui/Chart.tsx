/** Numbers by day, as bars for the eye and as a table for assistive technology. */

import { useI18n } from "@/i18n";
import "./chart.css";

export interface Point {
  /** `2026-01-31`. */
  day: string;
  value: number;
}

interface Props {
  label: string;
  /** What is counted, for the table's head. */
  unit: string;
  points: readonly Point[];
  /** A point in words, shown on hover. */
  say: (day: string, value: number) => string;
}

const HEIGHT = 100;
/** Of a bar's room, how much is bar. */
const FILL = 0.72;

/** The greatest value of the scale: a number that reads well, and at least 4, so that ones are not towers. */
export function scaleTop(values: readonly number[]): number {
  const most = Math.max(4, ...values);
  const step = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 5, 10].map((factor) => factor * step).find((top) => top >= most) ?? most;
}

export function DayChart({ label, unit, points, say }: Props) {
  const { t, language } = useI18n();
  const top = scaleTop(points.map((point) => point.value));
  const number = new Intl.NumberFormat(language);
  // Days have no zone: they are written in the one in which they are read.
  const date = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
  const day = (text: string) => date.format(Date.parse(`${text}T00:00:00Z`));
  const [first, last] = [points[0], points.at(-1)];
  return (
    <figure className="chart" aria-label={label}>
      <div className="chart-plot" aria-hidden>
        <span className="chart-top tabular">{number.format(top)}</span>
        <span className="chart-zero tabular">{number.format(0)}</span>
        <svg viewBox={`0 0 ${points.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {points.map((point, index) => {
            const height = (point.value / top) * HEIGHT;
            return (
              <g key={point.day} className="chart-day">
                <title>{say(day(point.day), point.value)}</title>
                <rect className="chart-room" x={index} y={0} width={1} height={HEIGHT} />
                <rect
                  className="chart-bar"
                  x={index + (1 - FILL) / 2}
                  y={HEIGHT - height}
                  width={FILL}
                  height={height}
                />
              </g>
            );
          })}
        </svg>
        {first && last && (
          <p className="chart-days">
            <span>{day(first.day)}</span>
            <span>{day(last.day)}</span>
          </p>
        )}
      </div>
      <div className="unseen">
        <table>
          <caption>{label}</caption>
          <thead>
            <tr>
              <th scope="col">{t.template.insights.day}</th>
              <th scope="col">{unit}</th>
            </tr>
          </thead>
          <tbody>
            {points.map((point) => (
              <tr key={point.day}>
                <th scope="row">{day(point.day)}</th>
                <td>{number.format(point.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
