/** One's own name. */

import { useMutation, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { account } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { AccountPage } from "./AccountPage";

export function Profile() {
  const t = useT();
  const client = useQueryClient();
  const { data: me } = useSuspenseQuery(meQuery);
  const save = useMutation({
    mutationFn: account.setProfile,
    onSuccess: async (user) => {
      client.setQueryData(meQuery.queryKey, user);
      // Owners stand by their names in all that was asked before.
      if (user.username !== me.username) await client.invalidateQueries();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = (name: string) => String(values.get(name) ?? "").trim();
    save.mutate({ username: text("username"), name: text("name") });
  };
  const error = save.error instanceof ApiError ? save.error : undefined;
  return (
    <AccountPage title={t.account.pages.profile}>
      <form className="form" onSubmit={submit} onChange={() => save.reset()}>
        <Field
          label={t.account.profile.email}
          hint={t.account.profile.emailHint}
          type="email"
          value={me.email}
          readOnly
        />
        <Field
          label={t.setup.username}
          hint={t.account.profile.usernameHint}
          error={fieldError(t, error, "username")}
          name="username"
          defaultValue={me.username}
          autoComplete="username"
          spellCheck={false}
          required
          maxLength={32}
        />
        <Field
          label={t.setup.name}
          error={fieldError(t, error, "name")}
          name="name"
          defaultValue={me.name}
          autoComplete="name"
          optional
          maxLength={128}
        />
        {save.error && !error?.validations.length && <ErrorNote error={save.error} />}
        <div className="form-actions">
          <Button type="submit" look="primary" busy={save.isPending}>
            {t.common.save}
          </Button>
          <Saved done={save.isSuccess} />
        </div>
      </form>
    </AccountPage>
  );
}
