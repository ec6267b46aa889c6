/** One's own password. */

import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, useRef } from "react";
import { account, session } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { NewPassword } from "@/ui/NewPassword";
import { Empty, ErrorNote } from "@/ui/Notes";
import { AccountPage } from "./AccountPage";

export function Security() {
  const t = useT();
  const { data: me } = useSuspenseQuery(meQuery);
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: async (body: { old_password: string; password: string }) => {
      await account.setPassword(body);
      // The server has ended all sessions, also this one: a new one takes its place.
      await session.login({ email: me.email, password: body.password });
    },
    onSuccess: () => form.current?.reset(),
  });
  if (me.login_type !== "password") {
    return (
      <AccountPage title={t.account.pages.security}>
        <Empty icon={KeyRound} title={t.account.security.noPassword}>
          <p>{t.account.security.noPasswordText(t.account.security.ways[me.login_type])}</p>
        </Empty>
      </AccountPage>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    change.mutate({
      old_password: String(values.get("old_password")),
      password: String(values.get("password")),
    });
  };
  const error = change.error instanceof ApiError ? change.error : undefined;
  return (
    <AccountPage title={t.account.pages.security} lead={t.account.security.lead}>
      <form
        className="form"
        ref={form}
        onSubmit={submit}
        onChange={() => {
          if (!change.isPending) change.reset();
        }}
      >
        {/* Password managers want to know whose password it is. */}
        <input type="email" autoComplete="username" value={me.email} readOnly hidden />
        <Field
          label={t.account.security.old}
          name="old_password"
          type="password"
          autoComplete="current-password"
          error={fieldError(t, error, "old_password")}
          required
        />
        <NewPassword label={t.account.security.new} error={fieldError(t, error, "password")} />
        {change.error && !error?.validations.length && <ErrorNote error={change.error} />}
        <div className="form-actions">
          <Button type="submit" look="primary" busy={change.isPending}>
            {t.account.security.change}
          </Button>
          <span role="status">{change.isSuccess ? t.account.security.changed : ""}</span>
        </div>
      </form>
    </AccountPage>
  );
}
