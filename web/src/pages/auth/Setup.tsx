/** The first account of a new deployment. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { deployment, session } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import { Button } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { AuthForm, AuthPage } from "./AuthPage";

export function Setup() {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [passwordError, setPasswordError] = useState<string>();
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
    onSuccess: async () => {
      client.clear();
      await navigate({ to: "/workspaces" });
    },
  });
  const checkPassword = async (password: string) => {
    if (!password) return setPasswordError(undefined);
    // The server decides; if it cannot be asked now, it is asked with the form.
    const check = await deployment.checkPassword(password).catch(() => undefined);
    setPasswordError(check && !check.valid ? t.setup.passwordWeak : undefined);
  };

  const error = setUp.error instanceof ApiError ? setUp.error : undefined;
  const field = (name: string) => error?.field(name);
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
        <Field
          label={t.setup.password}
          name="password"
          type="password"
          autoComplete="new-password"
          hint={t.setup.passwordHint}
          error={passwordError ?? field("password")}
          onBlur={(event) => void checkPassword(event.target.value)}
          required
          maxLength={64}
        />
        {elsewhere && <ErrorNote error={setUp.error} />}
        <Button type="submit" look="primary" busy={setUp.isPending}>
          {setUp.isPending ? t.setup.submitting : t.setup.submit}
        </Button>
      </AuthForm>
    </AuthPage>
  );
}
