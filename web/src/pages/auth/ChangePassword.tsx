/** A password of one's own, in place of the one that somebody else has chosen. Nothing else is open before. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { session } from "@/api/endpoints";
import { meQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import { changePasswordRoute } from "@/routes/auth";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/Notes";
import { OwnPasswordFields, useOwnPassword } from "../OwnPassword";
import { AuthForm, AuthPage } from "./AuthPage";
import { useEnter } from "./useEnter";

export function ChangePassword() {
  const t = useT();
  const words = t.changePassword;
  const search = changePasswordRoute.useSearch();
  const enter = useEnter();
  const navigate = useNavigate();
  const client = useQueryClient();
  const email = useQuery(meQuery).data?.email ?? "";
  useTitle(words.title);
  const change = useOwnPassword(email, () => enter(search.redirect));
  const leave = useMutation({
    mutationFn: session.logout,
    onSuccess: async () => {
      await navigate({ to: "/login", search });
      client.clear();
    },
  });
  return (
    <AuthPage title={words.title} lead={words.lead}>
      <AuthForm onSubmit={change.mutate}>
        <OwnPasswordFields email={email} old={words.old} error={change.error} autoFocus />
        {leave.error && <ErrorNote error={leave.error} />}
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
