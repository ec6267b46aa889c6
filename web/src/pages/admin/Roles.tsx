/** Roles: as a row of words, and as a dialog that changes them. */

import { type FormEvent, useState } from "react";
import type { AssignableRole, SlimRole } from "@/api/types";
import { useT } from "@/i18n";
import { useAdminI18n } from "@/i18n/admin";
import { roleName } from "@/lib/roles";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check } from "@/ui/Field";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import "@/ui/status.css";

export function RoleWords({ roles }: { roles: readonly SlimRole[] }) {
  const t = useT();
  if (roles.length === 0) return <span className="muted">{t.roles.member}</span>;
  return (
    <span className="badges">
      {roles.map((role) => (
        <span key={role.name} className="badge tone-stopped">
          {roleName(t, role)}
        </span>
      ))}
    </span>
  );
}

interface Props {
  title: string;
  lead: string;
  held: readonly SlimRole[];
  /** What can be held, once the server has said it. */
  roles: readonly AssignableRole[] | undefined;
  loadError: unknown;
  busy: boolean;
  error: unknown;
  onSave: (roles: string[]) => void;
  onClose: () => void;
}

export function RolesDialog({ title, lead, held, roles, loadError, busy, error, onSave, onClose }: Props) {
  const { t } = useAdminI18n();
  const [chosen, setChosen] = useState(() => new Set(held.map((role) => role.name)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) onSave([...chosen]);
  };
  const toggle = (name: string, on: boolean) =>
    setChosen((old) => {
      const next = new Set(old);
      if (on) next.add(name);
      else next.delete(name);
      return next;
    });
  return (
    <Dialog title={title} lead={lead} open onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        {loadError ? <ErrorNote error={loadError} /> : !roles && <Skeleton rows={4} />}
        <div className="role-list">
          {roles?.map((role) => (
            <Check
              key={role.name}
              label={roleName(t, role)}
              hint={
                role.assignable
                  ? t.admin.roleHints[role.name]
                  : `${t.admin.roleHints[role.name] ?? ""} ${t.admin.roleTaken}`
              }
              checked={chosen.has(role.name)}
              disabled={!role.assignable}
              onChange={(on) => toggle(role.name, on)}
            />
          ))}
        </div>
        {error ? <ErrorNote error={error} /> : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={busy || !roles}>
            {t.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
