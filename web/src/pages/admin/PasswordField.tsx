/** A new password for somebody else: typed or generated, visible while it is made, and once more to copy. */

import { Dices } from "lucide-react";
import { useAdminI18n } from "@/i18n/admin";
import { generatePassword } from "@/lib/password";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Dialog } from "@/ui/Dialog";
import { Check, FieldFrame } from "@/ui/Field";

/** A password, and whether whoever gets it has to choose another one. */
export interface GivenPassword {
  password: string;
  must_change_password: boolean;
}

export const newPassword = (): GivenPassword => ({
  password: generatePassword(),
  must_change_password: true,
});

interface Props {
  value: GivenPassword;
  error: string | undefined;
  onValue: (value: GivenPassword) => void;
}

export function PasswordField({ value, error, onValue }: Props) {
  const { t } = useAdminI18n();
  const words = t.admin.users;
  const type = (password: string) => onValue({ ...value, password });
  return (
    <>
      <FieldFrame label={words.form.password} hint={words.form.passwordHint} error={error}>
        {(control) => (
          <div className="password-row">
            <input
              className="input mono"
              {...control}
              value={value.password}
              onChange={(event) => type(event.target.value)}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              required
            />
            <Button icon={Dices} onClick={() => type(generatePassword())}>
              {words.form.generate}
            </Button>
          </div>
        )}
      </FieldFrame>
      <Check
        label={words.mustChange}
        hint={words.mustChangeHint}
        checked={value.must_change_password}
        onChange={(must_change_password) => onValue({ ...value, must_change_password })}
      />
    </>
  );
}

/** Shows a password for the last time. */
export function PasswordOnce(props: { title: string; password: string; onClose: () => void }) {
  const { t } = useAdminI18n();
  return (
    <Dialog title={props.title} lead={t.admin.users.passwordOnce} open onClose={props.onClose}>
      <p className="secret-once">
        <code>{props.password}</code>
        <CopyButton text={() => props.password} look="plain">
          {t.admin.users.copyPassword}
        </CopyButton>
      </p>
      <div className="dialog-actions">
        <Button look="primary" onClick={props.onClose}>
          {t.admin.users.done}
        </Button>
      </div>
    </Dialog>
  );
}
