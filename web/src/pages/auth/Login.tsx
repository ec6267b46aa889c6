/** Sign in with email and password. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound, TimerOff } from "lucide-react";
import { session } from "@/api/endpoints";
import { isStatus } from "@/api/errors";
import { authMethodsQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { safeLink } from "@/lib/safeLink";
import { useTitle } from "@/lib/title";
import { loginRoute } from "@/routes/auth";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { ErrorNote, Note } from "@/ui/Notes";
import { AuthForm, AuthPage } from "./AuthPage";
import { useEnter } from "./useEnter";

export function Login() {
  const t = useT();
  const search = loginRoute.useSearch();
  const enter = useEnter();
  const methods = useQuery(authMethodsQuery);
  useTitle(t.login.title);

  const login = useMutation({
    mutationFn: session.login,
    onSuccess: () => enter(search.redirect),
  });
  const wrong = isStatus(login.error, 401);
  const next = wrong ? t.login.wrongNext : isStatus(login.error, 429) ? t.login.limitedNext : undefined;

  const terms = safeLink(methods.data?.terms_of_service_url || "about:", window.location.origin);

  return (
    <AuthPage title={t.login.title}>
      {search.ended && !login.error && <Note icon={TimerOff}>{t.login.ended}</Note>}
      {search.message && !login.error && <Note icon={TimerOff}>{search.message}</Note>}
      {methods.error && <ErrorNote error={methods.error} onRetry={() => void methods.refetch()} />}
      {methods.data && !methods.data.password.enabled ? (
        <Note icon={KeyRound}>
          <p className="note-title">{t.login.passwordOff}</p>
          <p>{t.login.passwordOffNext}</p>
        </Note>
      ) : (
        <AuthForm
          onSubmit={(values) =>
            login.mutate({ email: String(values.get("email")), password: String(values.get("password")) })
          }
        >
          <Field label={t.login.email} name="email" type="email" autoComplete="username" required autoFocus />
          <Field
            label={t.login.password}
            name="password"
            type="password"
            autoComplete="current-password"
            required
          />
          {login.error && (
            <ErrorNote error={login.error} title={wrong ? t.login.wrong : undefined} next={next} />
          )}
          <Button type="submit" look="primary" busy={login.isPending}>
            {login.isPending ? t.login.submitting : t.login.submit}
          </Button>
        </AuthForm>
      )}
      {terms && (
        <p className="small">
          <a href={terms.href} target="_blank" rel="noopener noreferrer">
            {t.account.terms}
          </a>
        </p>
      )}
    </AuthPage>
  );
}
