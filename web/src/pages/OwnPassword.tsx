/** The change of one's own password: the old one, the new one, and the session that goes on. */

import { useMutation } from "@tanstack/react-query";
import { account, session } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { Field } from "@/ui/Field";
import { NewPassword } from "@/ui/NewPassword";
import { ErrorNote } from "@/ui/Notes";

/** Changes it by the values of the form. */
export function useOwnPassword(email: string, onSuccess: () => unknown) {
  return useMutation({
    mutationFn: async (values: FormData) => {
      const password = String(values.get("password"));
      await account.setPassword({ old_password: String(values.get("old_password")), password });
      // The server has ended all sessions, also this one: a new one takes its place.
      await session.login({ email, password });
    },
    onSuccess,
  });
}

interface Props {
  email: string;
  /** What the old password is called. */
  old: string;
  /** Why the change has failed. */
  error: unknown;
  autoFocus?: boolean;
}

export function OwnPasswordFields({ email, old, error, autoFocus = false }: Props) {
  const t = useT();
  const elsewhere = error && !(error instanceof ApiError && error.validations.length > 0);
  return (
    <>
      {/* Password managers want to know whose password it is. */}
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <Field
        label={old}
        name="old_password"
        type="password"
        autoComplete="current-password"
        error={fieldError(t, error, "old_password")}
        required
        autoFocus={autoFocus}
      />
      <NewPassword label={t.account.security.new} error={fieldError(t, error, "password")} />
      {elsewhere ? <ErrorNote error={error} /> : null}
    </>
  );
}
