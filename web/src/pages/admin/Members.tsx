/** The members of an organization and what they may do in it. */

import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Building2, Ellipsis, Plus, ShieldCheck, UserMinus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { memberPermissionsQuery, membersQuery } from "@/api/adminQueries";
import { meQuery, PAGE_SIZE } from "@/api/queries";
import type { Organization, OrganizationMember } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { type CanManage, canAssignMember, canRemove } from "@/lib/canManage";
import { useTitle } from "@/lib/title";
import { membersRoute } from "@/routes/admin";
import { Button } from "@/ui/Button";
import { Menu, MenuItem } from "@/ui/Menu";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { AddMember, MemberRoles, RemoveMember } from "./MemberDialogs";
import { InOrganization, organizationName } from "./organization";
import { RoleWords } from "./Roles";

type Opened = { action: "add" } | { action: "roles" | "remove"; member: OrganizationMember };

function List({ organization, pick }: { organization: Organization; pick: ReactNode }) {
  const { t } = useAdminI18n();
  const search = membersRoute.useSearch();
  const navigate = membersRoute.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const { data: may } = useQuery(memberPermissionsQuery(organization.id));
  const page = search.page ?? 1;
  const { data, error, isPending, refetch } = useQuery(membersQuery(organization.id, page));
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const why = (can: CanManage) => (can === true ? undefined : t.admin.why[can]);
  const columns = t.admin.members.columns;
  const rows = data?.members ?? [];
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.members}</h1>
        {may?.add && (
          <Button look="primary" icon={Plus} onClick={() => setOpened({ action: "add" })}>
            {t.admin.members.add}
          </Button>
        )}
      </div>
      <p className="lead">{t.admin.members.lead(organizationName(organization))}</p>
      {pick && <div className="tools">{pick}</div>}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={6} />}
      {data && rows.length === 0 && (
        <Empty icon={Building2} title={t.admin.members.emptyTitle}>
          <p>{t.admin.members.emptyText}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <div className="panel-box cards">
            <Table
              label={t.nav.adminPages.members}
              rows={rows}
              rowKey={(member) => member.user_id}
              columns={[
                {
                  title: columns.member,
                  cell: (member) => (
                    <span className="two">
                      <span>
                        <strong>{member.username}</strong>
                        {member.name && ` ${member.name}`}
                        {member.user_id === me.id && <span className="muted"> ({t.admin.users.you})</span>}
                      </span>
                      <span className="muted small">{member.email}</span>
                    </span>
                  ),
                },
                { title: columns.roles, cell: (member) => <RoleWords roles={member.roles} /> },
                { title: columns.siteRoles, cell: (member) => <RoleWords roles={member.global_roles} /> },
                { title: columns.since, cell: (member) => <Time at={member.created_at} /> },
                {
                  title: t.admin.users.columns.actions,
                  actions: true,
                  cell: (member) => (
                    <span className="row-menu">
                      <Menu
                        trigger={
                          <Button
                            look="quiet"
                            icon={Ellipsis}
                            aria-label={t.admin.users.actionsOf(member.username)}
                          />
                        }
                      >
                        <MenuItem
                          icon={ShieldCheck}
                          why={why(canAssignMember(member, me, may))}
                          onSelect={() => setOpened({ action: "roles", member })}
                        >
                          {t.admin.users.changeRoles}
                        </MenuItem>
                        <MenuItem
                          icon={UserMinus}
                          why={why(canRemove(member, me, may))}
                          onSelect={() => setOpened({ action: "remove", member })}
                        >
                          {t.admin.members.remove}
                        </MenuItem>
                      </Menu>
                    </span>
                  ),
                },
              ]}
            />
          </div>
          <Pages
            page={page}
            size={PAGE_SIZE}
            count={data?.count ?? 0}
            onGo={(to) => void navigate({ search: (old) => ({ ...old, page: to }) })}
          />
          <p className="list-note">{t.admin.members.found(data?.count ?? 0)}</p>
        </>
      )}
      {opened?.action === "add" && <AddMember organization={organization} onClose={close} />}
      {opened?.action === "roles" && (
        <MemberRoles organization={organization} member={opened.member} onClose={close} />
      )}
      {opened?.action === "remove" && (
        <RemoveMember organization={organization} member={opened.member} onClose={close} />
      )}
    </main>
  );
}

export function Members() {
  const { t } = useAdminI18n();
  const { organization } = membersRoute.useSearch();
  const navigate = membersRoute.useNavigate();
  useTitle(t.nav.adminPages.members, t.admin.title);
  return (
    <InOrganization
      name={organization}
      title={t.nav.adminPages.members}
      onPick={(name) => void navigate({ search: { organization: name } })}
    >
      {(chosen, pick) => <List key={chosen.id} organization={chosen} pick={pick} />}
    </InOrganization>
  );
}
