/** A new password for somebody else: typed or generated, visible while it is made, and once more to copy. */

import { Dices } from "lucide-react";
import { useAdminI18n } from "@/i18n/admin";
import { generatePassword } from "@/lib/password";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Dialog } from "@/ui/Dialog";
import { FieldFrame } from "@/ui/Field";

interface Props {
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}

export function PasswordField({ value, error, onValue }: Props) {
  const { t } = useAdminI18n();
  return (
    <FieldFrame label={t.admin.users.form.password} hint={t.admin.users.form.passwordHint} error={error}>
      {(control) => (
        <div className="password-row">
          <input
            className="input mono"
            {...control}
            value={value}
            onChange={(event) => onValue(event.target.value)}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
          <Button icon={Dices} onClick={() => onValue(generatePassword())}>
            {t.admin.users.form.generate}
          </Button>
        </div>
      )}
    </FieldFrame>
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
