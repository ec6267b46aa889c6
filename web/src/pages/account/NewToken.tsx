/** Makes a token, and shows it this once. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { tokenConfigQuery, tokensQuery } from "@/api/accountQueries";
import { tokens } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import type { ApiKeyScope } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { daysNs, lastDay, lifetimes, nsToMs, untilNs } from "@/lib/lifetime";
import { duration } from "@/lib/time";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field, Select } from "@/ui/Field";
import { ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { Secret } from "@/ui/Secret";

const shownDay = (language: string, day: string) =>
  new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(new Date(`${day}T00:00`));

function Form({ maxNs, onMade }: { maxNs: number; onMade: (key: string) => void }) {
  const { t, language } = useI18n();
  const client = useQueryClient();
  const offered = lifetimes(maxNs);
  const [lifetime, setLifetime] = useState(String(offered.usual));
  const [day, setDay] = useState("");
  const [scope, setScope] = useState<ApiKeyScope>("all");
  // The limit moves with the clock, but not under somebody who is choosing.
  const [now] = useState(Date.now);
  const latest = lastDay(maxNs, now);
  const create = useMutation({
    mutationFn: tokens.create,
    onSuccess: async ({ key }) => {
      onMade(key);
      await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
    },
  });
  const lifetimeNs = () =>
    lifetime === "longest"
      ? maxNs
      : lifetime === "date"
        ? untilNs(day, maxNs, Date.now())
        : daysNs(Number(lifetime));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const ns = lifetimeNs();
    if (ns === undefined) return;
    const token_name = String(new FormData(event.currentTarget).get("token_name")).trim();
    create.mutate({ token_name, scope, lifetime: ns });
  };
  const options: [string, string][] = [
    ...offered.days.map((days): [string, string] => [String(days), t.account.tokens.days(days)]),
    ...(offered.longest
      ? [["longest", t.account.tokens.longest(duration(language, nsToMs(maxNs)))] as [string, string]]
      : []),
    ["date", t.account.tokens.custom],
  ];
  const error = create.error instanceof ApiError ? create.error : undefined;
  return (
    <form className="dialog-form" onSubmit={submit}>
      <Field
        label={t.account.tokens.name}
        hint={t.account.tokens.nameHint}
        error={fieldError(t, error, "token_name") ?? fieldError(t, error, "name")}
        name="token_name"
        autoComplete="off"
        spellCheck={false}
        required
        autoFocus
        maxLength={64}
      />
      <Select label={t.account.tokens.lifetime} value={lifetime} options={options} onPick={setLifetime} />
      {lifetime === "date" && (
        <Field
          label={t.account.tokens.until}
          hint={t.account.tokens.untilHint(shownDay(language, latest))}
          type="date"
          min={lastDay(0, now)}
          max={latest}
          value={day}
          onChange={(event) => setDay(event.target.value)}
          required
        />
      )}
      <Select<ApiKeyScope>
        label={t.account.tokens.scope}
        value={scope}
        options={Object.entries(t.account.tokens.scopes) as [ApiKeyScope, string][]}
        onPick={setScope}
      />
      {create.error && !error?.validations.length && <ErrorNote error={create.error} />}
      <div className="dialog-actions">
        <Button type="submit" look="primary" busy={create.isPending}>
          {t.account.tokens.submit}
        </Button>
      </div>
    </form>
  );
}

export function NewToken() {
  const t = useT();
  const navigate = useNavigate();
  const config = useQuery(tokenConfigQuery);
  const [key, setKey] = useState<string>();
  const close = () => void navigate({ to: "/settings/tokens", replace: true });
  return (
    <Dialog title={t.account.tokens.createTitle} open onClose={close}>
      {key !== undefined ? (
        <>
          <Note icon={TriangleAlert} tone="waiting">
            {t.account.tokens.once}
          </Note>
          <Secret label={t.account.tokens.token} text={key} copy={t.common.copy} />
          <div className="dialog-actions">
            <Button onClick={close}>{t.account.tokens.done}</Button>
          </div>
        </>
      ) : config.data ? (
        <Form maxNs={config.data.max_token_lifetime} onMade={setKey} />
      ) : config.error ? (
        <ErrorNote error={config.error} onRetry={() => void config.refetch()} />
      ) : (
        <Skeleton rows={4} />
      )}
    </Dialog>
  );
}
