/** What one does with a user, each in its dialog. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { putUser } from "@/api/adminQueries";
import { users } from "@/api/endpoints";
import { siteRolesQuery } from "@/api/queries";
import type { User } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { fieldError } from "@/lib/fieldError";
import { Button } from "@/ui/Button";
import { Confirm, Dialog } from "@/ui/Dialog";
import { ErrorNote } from "@/ui/Notes";
import { newPassword, PasswordField } from "./PasswordField";
import { RolesDialog } from "./Roles";

interface Props {
  user: User;
  onClose: () => void;
}

export function UserRoles({ user, onClose }: Props) {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const roles = useQuery(siteRolesQuery);
  const save = useMutation({
    mutationFn: (names: string[]) => users.setRoles(user.id, names),
    onSuccess: (news) => {
      putUser(client, news);
      void client.invalidateQueries({ queryKey: ["members"] });
      onClose();
    },
  });
  return (
    <RolesDialog
      title={t.admin.users.rolesTitle(user.username)}
      lead={t.admin.users.rolesLead}
      held={user.roles}
      roles={roles.data}
      loadError={roles.error}
      busy={save.isPending}
      error={save.error}
      onSave={save.mutate}
      onClose={onClose}
    />
  );
}

export function ResetPassword(props: Props & { onSet: (password: string) => void }) {
  const { user, onClose } = props;
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const [password, setPassword] = useState(newPassword);
  const save = useMutation({
    mutationFn: () => users.setPassword(user.id, password),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["users"] });
      props.onSet(password.password);
    },
  });
  const refused = fieldError(t, save.error, "password");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <Dialog
      title={t.admin.users.resetTitle(user.username)}
      lead={t.admin.users.resetLead}
      open
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit}>
        <PasswordField value={password} onValue={setPassword} error={refused} />
        {save.error && !refused ? <ErrorNote error={save.error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={save.isPending}>
            {t.admin.users.resetSubmit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function SuspendUser({ user, onClose }: Props) {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => users.setStatus(user.id, "suspend"),
    onSuccess: (news) => {
      putUser(client, news);
      onClose();
    },
  });
  return (
    <Confirm
      title={t.admin.users.suspendTitle(user.username)}
      lead={t.admin.users.suspendLead}
      action={t.admin.users.suspend}
      danger
      open
      busy={save.isPending}
      error={save.error}
      onConfirm={save.mutate}
      onClose={onClose}
    />
  );
}

export function DeleteUser({ user, onClose }: Props) {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => users.remove(user.id),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["users"] });
      void client.invalidateQueries({ queryKey: ["members"] });
      onClose();
    },
  });
  return (
    <Confirm
      title={t.admin.users.removeTitle(user.username)}
      lead={t.admin.users.removeLead}
      action={t.admin.users.remove}
      name={user.username}
      danger
      open
      busy={remove.isPending}
      error={remove.error}
      onConfirm={remove.mutate}
      onClose={onClose}
    />
  );
}
