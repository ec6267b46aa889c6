/** When one's quiet hours begin: workspaces are stopped then whose template demands it. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { quietHoursQuery } from "@/api/accountQueries";
import { account } from "@/api/endpoints";
import type { QuietHours } from "@/api/types";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { timeZones, WEEK, writeSchedule } from "@/lib/schedule";
import { Button } from "@/ui/Button";
import { FieldFrame, Select } from "@/ui/Field";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { Time } from "@/ui/Time";
import { AccountPage } from "./AccountPage";

const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function Form({ hours }: { hours: QuietHours }) {
  const t = useT();
  const words = t.account.schedule;
  const client = useQueryClient();
  const [time, setTime] = useState(hours.time);
  const [zone, setZone] = useState(hours.timezone);
  const save = useMutation({
    mutationFn: account.setQuietHours,
    onSuccess: (saved) => {
      client.setQueryData(quietHoursQuery.queryKey, saved);
      setTime(saved.time);
      setZone(saved.timezone);
    },
  });
  const changed = time !== hours.time || zone !== hours.timezone;
  const why = !hours.user_can_set ? words.fixed : changed ? undefined : t.workspacePage.parameters.unchanged;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!why && !save.isPending) save.mutate(writeSchedule({ days: WEEK, time, zone }));
  };
  const atField = fieldError(t, save.error, "schedule");
  return (
    <form className="form" onSubmit={submit}>
      <FieldFrame label={words.time} hint={hours.user_can_set ? words.hint : words.fixed} error={atField}>
        {(control) => (
          <input
            {...control}
            className="input"
            type="time"
            required
            value={time}
            disabled={!hours.user_can_set}
            onChange={(event) => event.target.value && setTime(event.target.value)}
          />
        )}
      </FieldFrame>
      <Select
        label={words.zone}
        value={zone}
        options={timeZones(zone, zoneHere()).map((each) => [each, each] as const)}
        disabled={!hours.user_can_set}
        onPick={setZone}
      />
      <p className="muted">
        <Time at={hours.next} say={words.next} />
      </p>
      {save.error && !atField ? <ErrorNote error={save.error} /> : null}
      <div className="form-actions">
        <Button type="submit" look="primary" why={why} busy={save.isPending}>
          {words.save}
        </Button>
        {hours.user_set && hours.user_can_set && (
          <Button disabled={save.isPending} onClick={() => save.mutate("")}>
            {words.reset}
          </Button>
        )}
        <Saved done={save.isSuccess && !changed} />
      </div>
    </form>
  );
}

export function Schedule() {
  const t = useT();
  const { data, error, refetch } = useQuery(quietHoursQuery);
  return (
    <AccountPage title={t.account.pages.schedule} lead={t.account.schedule.lead}>
      {data ? (
        <Form hours={data} />
      ) : error ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton rows={3} />
      )}
    </AccountPage>
  );
}
