/** When workspaces of a template start, stop, fall asleep and end. */

import { useState } from "react";
import type { Template } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { dayName, WEEK } from "@/lib/schedule";
import { DAYS, type Day, fromMs, toMs } from "@/lib/templates";
import { Days } from "@/ui/Days";
import { Check, Field } from "@/ui/Field";
import { EditorsOnly, Part } from "./Part";
import { SettingsForm, useSaveTemplate } from "./SettingsForm";
import { useTemplate } from "./useTemplate";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The lengths of time of the form, by the API's name, with the unit in which one thinks of them. */
const LENGTHS = {
  default_ttl_ms: HOUR_MS,
  activity_bump_ms: HOUR_MS,
  failure_ttl_ms: HOUR_MS,
  time_til_dormant_ms: DAY_MS,
  time_til_dormant_autodelete_ms: DAY_MS,
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
  const [days, setDays] = useState<readonly Day[]>(() =>
    DAYS.filter((day) => template.autostart_requirement.days_of_week.includes(day)),
  );
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
      error={
        fieldError(t, save.error, name) ??
        (shown && lengths[name] === undefined ? words.notALength : undefined)
      }
      inputMode="decimal"
      autoComplete="off"
      placeholder={words.never}
      value={texts[name]}
      onChange={(event) => setTexts((old) => ({ ...old, [name]: event.target.value }))}
    />
  );
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
              autostart_requirement: { days_of_week: [...days] },
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
        <Days
          legend={words.days}
          days={DAYS}
          name={(day, width) => dayName(language, WEEK[DAYS.indexOf(day)] ?? 0, width)}
          chosen={days}
          onChange={setDays}
        />
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
