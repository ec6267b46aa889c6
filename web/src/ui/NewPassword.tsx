/** A field for a new password: the server says whether it is good enough when one leaves it. */

import { useState } from "react";
import { deployment } from "@/api/endpoints";
import { useT } from "@/i18n";
import { Field } from "./Field";

interface Props {
  label: string;
  /** What the server has said to the form as a whole. */
  error?: string | undefined;
}

export function NewPassword({ label, error }: Props) {
  const t = useT();
  const [weak, setWeak] = useState(false);
  const check = async (password: string) => {
    // If the server cannot be asked now, it is asked with the form.
    const answer = password ? await deployment.checkPassword(password).catch(() => undefined) : undefined;
    setWeak(answer !== undefined && !answer.valid);
  };
  return (
    <Field
      label={label}
      name="password"
      type="password"
      autoComplete="new-password"
      hint={t.setup.passwordHint}
      error={weak ? t.setup.passwordWeak : error}
      // Not only on leaving: what is below would move away under a click on it.
      onChange={() => setWeak(false)}
      onBlur={(event) => void check(event.target.value)}
      required
      maxLength={64}
    />
  );
}
