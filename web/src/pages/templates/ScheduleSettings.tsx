/** When workspaces of a template start, stop, fall asleep and end. */

import { useState } from "react";
import type { Template } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { DAYS, fromMs, toMs } from "@/lib/templates";
import { Check, Field } from "@/ui/Field";
import { EditorsOnly, Part } from "./Part";
import { fieldError, SettingsForm, useSaveTemplate } from "./SettingsForm";
import { useTemplate } from "./useTemplate";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The lengths of time of the form, by the API's name, with the unit in which one thinks of them. */
const LENGTHS = {
  default_ttl_ms: HOUR,
  activity_bump_ms: HOUR,
  failure_ttl_ms: HOUR,
  time_til_dormant_ms: DAY,
  time_til_dormant_autodelete_ms: DAY,
} as const;

type Length = keyof typeof LENGTHS;
const NAMES = Object.keys(LENGTHS) as Length[];

function Form({ template }: { template: Template }) {
  const { t, language } = useI18n();
  const words = t.template.schedule;
  const save = useSaveTemplate(template);
  const [texts, setTexts] = useState(
    () =>
      Object.fromEntries(NAMES.map((name) => [name, fromMs(template[name], LENGTHS[name])])) as Record<
        Length,
        string
      >,
  );
  const [shown, setShown] = useState(false);
  const [days, setDays] = useState<readonly string[]>(template.autostart_requirement.days_of_week);
  const [autostart, setAutostart] = useState(template.allow_user_autostart);
  const [autostop, setAutostop] = useState(template.allow_user_autostop);
  const [restartUse, setRestartUse] = useState(false);
  const [restartDormancy, setRestartDormancy] = useState(false);

  const lengths = Object.fromEntries(NAMES.map((name) => [name, toMs(texts[name], LENGTHS[name])])) as Record<
    Length,
    number | undefined
  >;
  const readable = NAMES.every((name) => lengths[name] !== undefined);
  const sleeps = lengths.time_til_dormant_ms !== template.time_til_dormant_ms;
  const ends = lengths.time_til_dormant_autodelete_ms !== template.time_til_dormant_autodelete_ms;
  const field = (name: Length) => (
    <Field
      label={words[name]}
      hint={words.hints[name]}
      error={fieldError(save, name) ?? (shown && lengths[name] === undefined ? words.notALength : undefined)}
      inputMode="decimal"
      autoComplete="off"
      placeholder={words.never}
      value={texts[name]}
      onChange={(event) => setTexts((old) => ({ ...old, [name]: event.target.value }))}
    />
  );
  const dayName = new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" });
  return (
    <SettingsForm
      save={save}
      onSubmit={() => setShown(true)}
      fields={NAMES}
      change={
        readable
          ? {
              ...(lengths as Record<Length, number>),
              allow_user_autostart: autostart,
              allow_user_autostop: autostop,
              autostart_requirement: { days_of_week: DAYS.filter((day) => days.includes(day)) },
              update_workspace_last_used_at: sleeps && restartUse,
              update_workspace_dormant_at: ends && restartDormancy,
            }
          : undefined
      }
    >
      <h3>{words.stopping}</h3>
      {field("default_ttl_ms")}
      {field("activity_bump_ms")}
      <Check
        label={words.allowAutostop}
        hint={words.allowAutostopHint}
        checked={autostop}
        onChange={setAutostop}
      />
      <h3>{words.starting}</h3>
      <Check
        label={words.allowAutostart}
        hint={words.allowAutostartHint}
        checked={autostart}
        onChange={setAutostart}
      />
      {autostart && (
        <fieldset className="days">
          <legend>{words.days}</legend>
          {DAYS.map((day, index) => (
            <Check
              key={day}
              // The first of January 2024 was a Monday.
              label={dayName.format(Date.UTC(2024, 0, 1 + index))}
              checked={days.includes(day)}
              onChange={(on) => setDays((old) => (on ? [...old, day] : old.filter((each) => each !== day)))}
            />
          ))}
        </fieldset>
      )}
      <h3>{words.ending}</h3>
      {field("failure_ttl_ms")}
      {field("time_til_dormant_ms")}
      {sleeps && (
        <Check
          label={words.restartUse}
          hint={words.restartUseHint}
          checked={restartUse}
          onChange={setRestartUse}
        />
      )}
      {field("time_til_dormant_autodelete_ms")}
      {ends && (
        <Check
          label={words.restartDormancy}
          hint={words.restartDormancyHint}
          checked={restartDormancy}
          onChange={setRestartDormancy}
        />
      )}
    </SettingsForm>
  );
}

export function ScheduleSettings() {
  const t = useT();
  const template = useTemplate();
  return (
    <Part template={template} title={t.template.pages.schedule} lead={t.template.schedule.lead}>
      <EditorsOnly template={template}>
        <Form key={template.id} template={template} />
      </EditorsOnly>
    </Part>
  );
}
