/** What one does with the members of an organization, each in its dialog. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { organizationRolesQuery, usersLikeQuery } from "@/api/adminQueries";
import { organizations } from "@/api/endpoints";
import type { Organization, OrganizationMember } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { Button } from "@/ui/Button";
import { Confirm, Dialog } from "@/ui/Dialog";
import { FieldFrame } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { Suggest } from "@/ui/Suggest";
import { organizationName } from "./organization";
import { RolesDialog } from "./Roles";

interface Props {
  organization: Organization;
  onClose: () => void;
}

function useRenewed(onClose: () => void) {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: ["members"] });
    void client.invalidateQueries({ queryKey: ["users"] });
    onClose();
  };
}

export function AddMember({ organization, onClose }: Props) {
  const { t } = useAdminI18n();
  const [text, setText] = useState("");
  const { data } = useQuery(usersLikeQuery(text.trim()));
  const found = data?.users ?? [];
  const add = useMutation({
    mutationFn: () => organizations.addMember(organization.id, text.trim()),
    onSuccess: useRenewed(onClose),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!add.isPending && text.trim()) add.mutate();
  };
  return (
    <Dialog title={t.admin.members.add} lead={t.admin.members.addLead} open onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <FieldFrame label={t.admin.members.addField} hint={t.admin.members.addHint}>
          {(control) => (
            <Suggest
              {...control}
              value={text}
              onText={setText}
              suggestionsLabel={t.admin.search.suggestions}
              suggestions={found.map((user) => ({
                key: user.id,
                shown: user.username,
                hint: [user.name, user.email].filter(Boolean).join(" · "),
                why: user.organization_ids.includes(organization.id)
                  ? t.admin.members.alreadyMember
                  : undefined,
              }))}
              onPick={(index) => {
                setText(found[index]?.username ?? "");
                return undefined;
              }}
              required
            />
          )}
        </FieldFrame>
        {add.error && <ErrorNote error={add.error} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={add.isPending}>
            {t.admin.members.add}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function MemberRoles({ organization, member, onClose }: Props & { member: OrganizationMember }) {
  const { t } = useAdminI18n();
  const roles = useQuery(organizationRolesQuery(organization.id));
  const save = useMutation({
    mutationFn: (names: string[]) => organizations.setMemberRoles(organization.id, member.user_id, names),
    onSuccess: useRenewed(onClose),
  });
  return (
    <RolesDialog
      title={t.admin.users.rolesTitle(member.username)}
      lead={t.admin.members.rolesLead}
      held={member.roles}
      roles={roles.data}
      loadError={roles.error}
      busy={save.isPending}
      error={save.error}
      onSave={save.mutate}
      onClose={onClose}
    />
  );
}

export function RemoveMember({ organization, member, onClose }: Props & { member: OrganizationMember }) {
  const { t } = useAdminI18n();
  const remove = useMutation({
    mutationFn: () => organizations.removeMember(organization.id, member.user_id),
    onSuccess: useRenewed(onClose),
  });
  return (
    <Confirm
      title={t.admin.members.removeTitle(member.username)}
      lead={t.admin.members.removeLead(organizationName(organization))}
      action={t.admin.members.remove}
      name={member.username}
      danger
      open
      busy={remove.isPending}
      error={remove.error}
      onConfirm={remove.mutate}
      onClose={onClose}
    />
  );
}
