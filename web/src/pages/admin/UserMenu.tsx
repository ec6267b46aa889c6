/** What one can do with a user, in the row's menu. What cannot be done says why. */

import { useNavigate } from "@tanstack/react-router";
import {
  Ellipsis,
  KeyRound,
  Play,
  ScrollText,
  ShieldCheck,
  SquareTerminal,
  Trash2,
  UserX,
} from "lucide-react";
import type { User } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import {
  type CanManage,
  canActivate,
  canAssign,
  canDelete,
  canReset,
  canSuspend,
  type UserPermissions,
} from "@/lib/canManage";
import { writeTerm } from "@/lib/query";
import { Button } from "@/ui/Button";
import { Menu, MenuItem, MenuLine } from "@/ui/Menu";

/** What has a dialog of its own. */
export type UserAction = "roles" | "reset" | "suspend" | "remove";

interface Props {
  user: User;
  me: User;
  may: UserPermissions | undefined;
  readsAuditLog: boolean;
  onAction: (action: UserAction) => void;
  onActivate: () => void;
}

export function UserMenu({ user, me, may, readsAuditLog, onAction, onActivate }: Props) {
  const { t } = useAdminI18n();
  const navigate = useNavigate();
  const why = (can: CanManage) => (can === true ? undefined : t.admin.why[can]);
  return (
    <span className="row-menu">
      <Menu
        trigger={<Button look="quiet" icon={Ellipsis} aria-label={t.admin.users.actionsOf(user.username)} />}
      >
        <MenuItem icon={ShieldCheck} why={why(canAssign(user, me, may))} onSelect={() => onAction("roles")}>
          {t.admin.users.changeRoles}
        </MenuItem>
        <MenuItem icon={KeyRound} why={why(canReset(user, me, may))} onSelect={() => onAction("reset")}>
          {t.admin.users.reset}
        </MenuItem>
        {user.status === "suspended" ? (
          <MenuItem icon={Play} why={why(canActivate(user, may))} onSelect={onActivate}>
            {t.admin.users.activate}
          </MenuItem>
        ) : (
          <MenuItem icon={UserX} why={why(canSuspend(user, me, may))} onSelect={() => onAction("suspend")}>
            {t.admin.users.suspend}
          </MenuItem>
        )}
        <MenuItem icon={Trash2} why={why(canDelete(user, me, may))} onSelect={() => onAction("remove")}>
          {t.admin.users.remove}
        </MenuItem>
        <MenuLine />
        <MenuItem
          icon={SquareTerminal}
          onSelect={() =>
            void navigate({ to: "/workspaces", search: { filter: writeTerm("owner", user.username) } })
          }
        >
          {t.admin.users.workspaces}
        </MenuItem>
        {readsAuditLog && (
          <MenuItem
            icon={ScrollText}
            onSelect={() =>
              void navigate({ to: "/admin/audit", search: { filter: writeTerm("username", user.username) } })
            }
          >
            {t.admin.users.auditLog}
          </MenuItem>
        )}
      </Menu>
    </span>
  );
}
