/** When a workspace starts and stops by itself, with what comes of it in plain words. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CalendarClock, Info } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { workspaces } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { putWorkspace, workspaceQuery } from "@/api/queries";
import type { Template, Workspace } from "@/api/types";
import { templateQuery } from "@/api/workspaceQueries";
import { type Language, useI18n } from "@/i18n";
import type { Catalogue } from "@/i18n/en";
import type { Permissions } from "@/lib/can";
import { fieldError } from "@/lib/fieldError";
import {
  type Day,
  dayName,
  daysInWords,
  daysOf,
  HOUR_MS,
  readSchedule,
  type StartTimes,
  timeZones,
  WEEK,
  writeSchedule,
} from "@/lib/schedule";
import { duration } from "@/lib/time";
import { Button } from "@/ui/Button";
import { Days } from "@/ui/Days";
import { Check, Field, FieldFrame, Select } from "@/ui/Field";
import { ErrorNote, Note } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { Time } from "@/ui/Time";

const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
const USUAL_HOURS = 8;

/** What the form holds. `starts` is absent when workspaces are started by hand only. */
interface State {
  starts: StartTimes | undefined;
  stops: boolean;
  hours: string;
  /** The server's text, when the form cannot say it and it is to be kept. */
  custom: string | undefined;
}

const WORKDAYS: Day[] = [1, 2, 3, 4, 5];

function begin(workspace: Workspace): State {
  const text = workspace.autostart_schedule;
  const starts = text ? readSchedule(text) : undefined;
  return {
    starts,
    custom: text && !starts ? text : undefined,
    stops: Boolean(workspace.ttl_ms),
    hours: String(workspace.ttl_ms ? workspace.ttl_ms / HOUR_MS : USUAL_HOURS),
  };
}

const scheduleOf = (state: State) => state.custom ?? (state.starts ? writeSchedule(state.starts) : null);
const ttlOf = (state: State) => (state.stops ? Math.round(Number(state.hours) * HOUR_MS) : null);

/** "Starts Mon–Fri at 08:30 (Europe/Paris), stops 8 h later." */
function outcome(t: Catalogue, language: Language, state: State): string {
  const words = t.workspacePage.settings.outcome;
  const { starts } = state;
  const days = starts && (starts.days.length === 7 ? words.everyDay : daysInWords(language, starts.days));
  const start = starts && days ? words.startsAt(days, starts.time, starts.zone) : words.startsByHand;
  const ttl = ttlOf(state);
  return words.both(start, ttl ? words.stopsAfter(duration(language, ttl)) : words.neverStops);
}

/** What the template says about it. */
function Rules({ template }: { template: Template | undefined }) {
  const { t, language } = useI18n();
  const words = t.workspacePage.settings;
  if (!template) return null;
  const allowed = daysOf(template.autostart_requirement.days_of_week);
  const { days_of_week: stopDays, weeks } = template.autostop_requirement;
  const rules = [
    template.allow_user_autostart && allowed.length < 7
      ? words.daysAllowed(daysInWords(language, allowed))
      : "",
    stopDays.length > 0 ? words.required(daysInWords(language, daysOf(stopDays)), weeks) : "",
    template.activity_bump_ms > 0 ? words.activity(duration(language, template.activity_bump_ms)) : "",
  ].filter(Boolean);
  if (rules.length === 0) return null;
  return (
    <Note icon={Info}>
      {rules.map((rule) => (
        <p key={rule}>{rule}</p>
      ))}
    </Note>
  );
}

export function ScheduleForm({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const { t, language } = useI18n();
  const words = t.workspacePage.settings;
  const client = useQueryClient();
  const { data: template } = useQuery(templateQuery(workspace.template_id));
  const before = begin(workspace);
  const [state, setState] = useState(before);
  // What was saved, here or by somebody else, is what the form begins with again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other news of the workspace do not touch what is being edited
  useEffect(() => setState(before), [workspace.autostart_schedule, workspace.ttl_ms]);
  const put = (change: Partial<State>) => setState((old) => ({ ...old, ...change }));
  const schedule = scheduleOf(state);
  const ttl = ttlOf(state);
  const newSchedule = schedule !== scheduleOf(before);
  const newTtl = ttl !== ttlOf(before);
  const save = useMutation({
    mutationFn: async () => {
      if (newSchedule) await workspaces.setAutostart(workspace.id, schedule);
      if (newTtl) await workspaces.setTtl(workspace.id, ttl);
    },
    // When the second was refused the first holds nevertheless.
    onSettled: () =>
      client.invalidateQueries({ queryKey: workspaceQuery(workspace.owner_name, workspace.name).queryKey }),
    onSuccess: () => {
      const { autostart_schedule: _schedule, ttl_ms: _ttl, ...rest } = workspace;
      putWorkspace(client, {
        ...rest,
        ...(schedule ? { autostart_schedule: schedule } : {}),
        ...(ttl ? { ttl_ms: ttl } : {}),
      });
    },
  });
  const error = save.error instanceof ApiError ? save.error : undefined;
  const atFields = fieldError(t, error, "schedule") ?? fieldError(t, error, "ttl_ms");
  const locked = may?.update === false;
  const startOff = template?.allow_user_autostart === false;
  const stopOff = template?.allow_user_autostop === false;
  const noDay = state.starts?.days.length === 0;
  const why = locked
    ? t.why.notAllowed
    : noDay
      ? words.noDay
      : !newSchedule && !newTtl
        ? t.workspacePage.parameters.unchanged
        : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!why && !save.isPending) save.mutate();
  };
  const { starts } = state;
  const inTemplate = (on: boolean): StartTimes | undefined =>
    on
      ? {
          days: WORKDAYS.filter((day) =>
            daysOf(template?.autostart_requirement.days_of_week ?? []).includes(day),
          ),
          time: "08:30",
          zone: zoneHere(),
        }
      : undefined;
  return (
    <form className="form schedule" onSubmit={submit}>
      <p className="outcome">
        <CalendarClock size={16} aria-hidden />
        <output>{state.custom ? <code>{state.custom}</code> : outcome(t, language, state)}</output>
      </p>
      {workspace.next_start_at && !newSchedule && (
        <p className="muted small">
          <Time at={workspace.next_start_at} say={words.outcome.next} />
        </p>
      )}
      {state.custom ? (
        <Note icon={Info}>
          <p>{words.custom}</p>
          <Button onClick={() => put({ custom: undefined, starts: inTemplate(true) })}>
            {words.replaceCustom}
          </Button>
        </Note>
      ) : (
        <Check
          label={words.autostart}
          {...(startOff ? { hint: words.autostartOff } : {})}
          checked={starts !== undefined}
          // What was set before the template forbade it can still be taken away.
          disabled={locked || (startOff && starts === undefined)}
          onChange={(on) => put({ starts: inTemplate(on) })}
        />
      )}
      {starts && (
        <div className="schedule-fields">
          <FieldFrame label={words.time} error={noDay ? words.noDay : fieldError(t, error, "schedule")}>
            {(control) => (
              <input
                {...control}
                className="input"
                type="time"
                required
                value={starts.time}
                disabled={locked || startOff}
                onChange={(event) =>
                  event.target.value && put({ starts: { ...starts, time: event.target.value } })
                }
              />
            )}
          </FieldFrame>
          <Select
            label={words.zone}
            value={starts.zone}
            options={timeZones(starts.zone, zoneHere()).map((zone) => [zone, zone] as const)}
            disabled={locked || startOff}
            onPick={(zone) => put({ starts: { ...starts, zone } })}
          />
          <Days
            legend={words.days}
            days={WEEK}
            name={(day, width) => dayName(language, day, width)}
            chosen={starts.days}
            disabled={locked || startOff}
            onChange={(days) => put({ starts: { ...starts, days } })}
          />
        </div>
      )}
      <Check
        label={words.autostop}
        {...(stopOff ? { hint: words.autostopOff } : { hint: words.fromNextStart })}
        checked={state.stops}
        disabled={locked || stopOff}
        onChange={(stops) => put({ stops })}
      />
      {state.stops && (
        <div className="schedule-fields">
          <Field
            label={words.hours}
            hint={words.hoursHint}
            error={fieldError(t, error, "ttl_ms")}
            type="number"
            step="any"
            min={0}
            required
            value={state.hours}
            disabled={locked || stopOff}
            onChange={(event) => put({ hours: event.target.value })}
          />
        </div>
      )}
      <Rules template={template} />
      {save.error && !atFields ? <ErrorNote error={save.error} /> : null}
      <div className="form-actions">
        <Button type="submit" look="primary" why={why} busy={save.isPending}>
          {words.save}
        </Button>
        <Saved done={save.isSuccess && !newSchedule && !newTtl} />
      </div>
    </form>
  );
}
