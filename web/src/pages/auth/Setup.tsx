/** The first account of a new deployment. */

import { useMutation } from "@tanstack/react-query";
import { deployment, session } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { useTitle } from "@/lib/title";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { NewPassword } from "@/ui/NewPassword";
import { ErrorNote } from "@/ui/Notes";
import { AuthForm, AuthPage } from "./AuthPage";
import { useEnter } from "./useEnter";

export function Setup() {
  const t = useT();
  const enter = useEnter();
  useTitle(t.setup.title);

  const setUp = useMutation({
    mutationFn: async (values: FormData) => {
      const text = (name: string) => String(values.get(name) ?? "").trim();
      const password = String(values.get("password") ?? "");
      await deployment.setUp({
        username: text("username"),
        name: text("name"),
        email: text("email"),
        password,
        trial: false,
      });
      await session.login({ email: text("email"), password });
    },
    onSuccess: () => enter(undefined),
  });

  const error = setUp.error instanceof ApiError ? setUp.error : undefined;
  const field = (name: string) => fieldError(t, error, name);
  const elsewhere = setUp.error && !error?.validations.length;
  return (
    <AuthPage title={t.setup.title} lead={t.setup.lead}>
      <AuthForm onSubmit={(values) => setUp.mutate(values)}>
        <Field
          label={t.setup.username}
          name="username"
          autoComplete="username"
          hint={t.setup.usernameHint}
          error={field("username")}
          required
          autoFocus
          maxLength={32}
        />
        <Field
          label={t.setup.name}
          name="name"
          autoComplete="name"
          error={field("name")}
          optional
          maxLength={128}
        />
        <Field
          label={t.setup.email}
          name="email"
          type="email"
          autoComplete="email"
          error={field("email")}
          required
        />
        <NewPassword label={t.setup.password} error={field("password")} />
        {elsewhere && <ErrorNote error={setUp.error} />}
        <Button type="submit" look="primary" busy={setUp.isPending}>
          {setUp.isPending ? t.setup.submitting : t.setup.submit}
        </Button>
      </AuthForm>
    </AuthPage>
  );
}
