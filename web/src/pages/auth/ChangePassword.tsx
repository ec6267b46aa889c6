/** A password of one's own, in place of the one that somebody else has chosen. Nothing else is open before. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { account, session } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { meQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { useTitle } from "@/lib/title";
import { changePasswordRoute } from "@/routes/auth";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { NewPassword } from "@/ui/NewPassword";
import { ErrorNote } from "@/ui/Notes";
import { AuthForm, AuthPage } from "./AuthPage";
import { useEnter } from "./useEnter";

export function ChangePassword() {
  const t = useT();
  const words = t.changePassword;
  const search = changePasswordRoute.useSearch();
  const enter = useEnter();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data: me } = useQuery(meQuery);
  useTitle(words.title);
  const change = useMutation({
    mutationFn: async (body: { old_password: string; password: string }) => {
      await account.setPassword(body);
      // The server has ended all sessions, also this one: a new one takes its place.
      await session.login({ email: me?.email ?? "", password: body.password });
    },
    onSuccess: () => enter(search.redirect),
  });
  const leave = useMutation({
    mutationFn: session.logout,
    onSuccess: async () => {
      await navigate({ to: "/login", search });
      client.clear();
    },
  });
  const error = change.error instanceof ApiError ? change.error : undefined;
  const general = (change.error && !error?.validations.length && change.error) || leave.error;
  return (
    <AuthPage title={words.title} lead={words.lead}>
      <AuthForm
        onSubmit={(values) =>
          change.mutate({
            old_password: String(values.get("old_password")),
            password: String(values.get("password")),
          })
        }
      >
        {/* Password managers want to know whose password it is. */}
        <input type="email" autoComplete="username" value={me?.email ?? ""} readOnly hidden />
        <Field
          label={words.old}
          name="old_password"
          type="password"
          autoComplete="current-password"
          error={fieldError(t, error, "old_password")}
          required
          autoFocus
        />
        <NewPassword label={t.account.security.new} error={fieldError(t, error, "password")} />
        {general && <ErrorNote error={general} />}
        <Button type="submit" look="primary" busy={change.isPending}>
          {words.submit}
        </Button>
        <Button look="quiet" busy={leave.isPending} onClick={() => leave.mutate()}>
          {t.nav.signOut}
        </Button>
      </AuthForm>
    </AuthPage>
  );
}
