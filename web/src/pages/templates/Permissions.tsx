/** Whom a template is shared with, and what each of them may do with it. A choice holds at once. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, UserMinus } from "lucide-react";
import { type FormEvent, useDeferredValue, useState } from "react";
import { templates } from "@/api/endpoints";
import { templateAclQuery, templatePermissionsQuery, templateShareableQuery } from "@/api/templateQueries";
import type { Template, TemplateAcl, UpdateTemplateAcl } from "@/api/types";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { FieldFrame, Select } from "@/ui/Field";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { Suggest } from "@/ui/Suggest";
import { Table } from "@/ui/Table";
import { EditorsOnly, Part } from "./Part";
import { useMay, useTemplate } from "./useTemplate";

/** What somebody may do; the empty one is nothing. */
const ROLES = ["", "use", "admin"] as const;
type Role = (typeof ROLES)[number];

const roleOf = (word: string | undefined): Role => ROLES.find((role) => role === word) ?? "";

/** Everyone, or a member: a row of the table. */
interface Party {
  id: string;
  name: string;
  about: string;
  role: Role;
  everyone: boolean;
}

/** Changes whom it is shared with, and renews what depends on it: also what oneself may still do. */
function useShare(template: Template, done?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: UpdateTemplateAcl) => templates.share(template.id, change),
    onSuccess: async () => {
      await Promise.all([
        client.invalidateQueries({ queryKey: templateAclQuery(template.id).queryKey }),
        client.invalidateQueries({ queryKey: templatePermissionsQuery(template).queryKey }),
      ]);
      done?.();
    },
  });
}

function RoleChoice({ party, onPick }: { party: Party; onPick: (role: Role) => void }) {
  const t = useT();
  const words = t.template.permissions;
  return (
    <select
      className="input role-choice"
      aria-label={words.roleOf(party.name)}
      value={party.role}
      onChange={(event) => onPick(roleOf(event.target.value))}
    >
      {ROLES.filter((role) => role !== "" || party.everyone).map((role) => (
        <option key={role} value={role}>
          {words.roles[role || "none"]}
        </option>
      ))}
    </select>
  );
}

function Parties({ template, acl }: { template: Template; acl: TemplateAcl }) {
  const t = useT();
  const words = t.template.permissions;
  const share = useShare(template);
  /** What was chosen stands there before the server has answered. */
  const chosen = share.isPending ? share.variables : {};
  const everyone = template.organization_id;
  const organization = template.organization_display_name || template.organization_name;
  const held = acl.group.find((group) => group.id === everyone)?.role;
  const rows: Party[] = [
    {
      id: everyone,
      name: words.everyone,
      about: words.everyoneOf(organization),
      role: roleOf(chosen.group_perms?.[everyone] ?? held),
      everyone: true,
    },
    ...acl.users.map((user) => ({
      id: user.id,
      name: user.username,
      about: [user.name, user.email].filter(Boolean).join(" · "),
      role: roleOf(chosen.user_perms?.[user.id] || user.role),
      everyone: false,
    })),
  ];
  const change = ({ id, everyone }: Party, role: Role) =>
    share.mutate({ [everyone ? "group_perms" : "user_perms"]: { [id]: role } });
  const nobody = rows.every(({ role }) => role === "");
  return (
    <>
      {share.error && <ErrorNote error={share.error} />}
      <Table
        label={t.template.pages.permissions}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          {
            title: words.columns.who,
            cell: (party) => (
              <span className="two">
                <strong>{party.name}</strong>
                <span className="muted small">{party.about}</span>
              </span>
            ),
          },
          {
            title: words.columns.role,
            cell: (party) => <RoleChoice party={party} onPick={(role) => change(party, role)} />,
          },
          {
            title: words.columns.actions,
            actions: true,
            cell: (party) =>
              !party.everyone && (
                <Button
                  look="quiet"
                  icon={UserMinus}
                  label={t.actions.of(words.remove, party.name)}
                  onClick={() => change(party, "")}
                />
              ),
          },
        ]}
      />
      <p className="muted small">{nobody ? words.nobody : words.greater}</p>
      <Saved done={share.isSuccess} />
    </>
  );
}

interface ShareProps {
  template: Template;
  acl: TemplateAcl;
  onClose: () => void;
}

function Share({ template, acl, onClose }: ShareProps) {
  const t = useT();
  const words = t.template.permissions;
  const [text, setText] = useState("");
  const [role, setRole] = useState<Role>("use");
  /** What cannot be shared with, and why. */
  const [refused, setRefused] = useState({ typed: "", why: "" });
  const typed = text.trim();
  const client = useQueryClient();
  const { data } = useQuery(templateShareableQuery(template.id, useDeferredValue(typed)));
  const found = data?.users ?? [];
  const holds = (id: string) => acl.users.some((user) => user.id === id);
  const share = useShare(template, onClose);
  const find = useMutation({
    // What is offered may still be the answer to fewer letters.
    mutationFn: () => client.fetchQuery(templateShareableQuery(template.id, typed)),
    onSuccess: ({ users }) => {
      const same = (word: string) => word.toLowerCase() === typed.toLowerCase();
      const person = users.find(({ username, email }) => same(username) || same(email));
      if (!person) setRefused({ typed, why: words.unknown(typed) });
      else if (holds(person.id)) setRefused({ typed, why: words.already });
      else share.mutate({ user_perms: { [person.id]: role } });
    },
  });
  const busy = find.isPending || share.isPending;
  const error = find.error ?? share.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && typed) find.mutate();
  };
  return (
    <Dialog title={words.shareTitle} lead={words.shareLead} open onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <FieldFrame
          label={words.person}
          hint={words.personHint}
          error={refused.typed === typed && typed ? refused.why : undefined}
        >
          {(control) => (
            <Suggest
              {...control}
              value={text}
              onText={setText}
              suggestionsLabel={t.workspaces.suggestions}
              suggestions={found.map((user) => ({
                key: user.id,
                shown: user.username,
                hint: [user.name, user.email].filter(Boolean).join(" · "),
                why: holds(user.id) ? words.already : undefined,
              }))}
              onPick={(index) => {
                setText(found[index]?.username ?? "");
                return undefined;
              }}
              required
            />
          )}
        </FieldFrame>
        <Select
          label={words.columns.role}
          hint={words.rolesHint}
          value={role}
          options={[
            ["use", words.roles.use],
            ["admin", words.roles.admin],
          ]}
          onPick={setRole}
        />
        {error && <ErrorNote error={error} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={busy}>
            {words.share}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Shared({ template }: { template: Template }) {
  const { data, error, refetch } = useQuery(templateAclQuery(template.id));
  if (data) return <Parties template={template} acl={data} />;
  return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={3} />;
}

/** Opens the dialog; there is nothing to add to before the list has come. */
function ShareButton({ template }: { template: Template }) {
  const t = useT();
  const { data } = useQuery(templateAclQuery(template.id));
  const [open, setOpen] = useState(false);
  return (
    data && (
      <>
        <Button look="primary" icon={Plus} onClick={() => setOpen(true)}>
          {t.template.permissions.share}
        </Button>
        {open && <Share template={template} acl={data} onClose={() => setOpen(false)} />}
      </>
    )
  );
}

export function Permissions() {
  const t = useT();
  const template = useTemplate();
  const may = useMay(template);
  return (
    <Part
      template={template}
      title={t.template.pages.permissions}
      lead={t.template.permissions.lead}
      actions={may?.update && <ShareButton template={template} />}
    >
      <EditorsOnly template={template}>
        <Shared template={template} />
      </EditorsOnly>
    </Part>
  );
}
