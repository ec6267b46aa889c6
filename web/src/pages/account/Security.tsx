/** One's own password. */

import { useSuspenseQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, useRef } from "react";
import { meQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { Empty } from "@/ui/Notes";
import { OwnPasswordFields, useOwnPassword } from "../OwnPassword";
import { AccountPage } from "./AccountPage";

export function Security() {
  const t = useT();
  const { data: me } = useSuspenseQuery(meQuery);
  const form = useRef<HTMLFormElement>(null);
  const change = useOwnPassword(me.email, () => form.current?.reset());
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
    change.mutate(new FormData(event.currentTarget));
  };
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
        <OwnPasswordFields email={me.email} old={t.account.security.old} error={change.error} />
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
