/** Which days of the week: short names in a row, the long ones for those who point or listen. */

import "./field.css";

interface Props<Day> {
  legend: string;
  days: readonly Day[];
  name: (day: Day, width: "short" | "long") => string;
  chosen: readonly Day[];
  disabled?: boolean;
  /** The chosen days, in the order of the week. */
  onChange: (days: Day[]) => void;
}

export function Days<Day extends string | number>(props: Props<Day>) {
  const { days, chosen, onChange } = props;
  return (
    <fieldset className="days" disabled={props.disabled}>
      <legend>{props.legend}</legend>
      {days.map((day) => (
        <label key={day} title={props.name(day, "long")}>
          <input
            type="checkbox"
            aria-label={props.name(day, "long")}
            checked={chosen.includes(day)}
            onChange={(event) =>
              onChange(days.filter((each) => (each === day ? event.target.checked : chosen.includes(each))))
            }
          />
          {props.name(day, "short")}
        </label>
      ))}
    </fieldset>
  );
}
