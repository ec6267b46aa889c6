/** All users: who there is, with which roles, and what one can do about them. */

import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Plus, SearchX } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { putUser, userPermissionsQuery, usersQuery } from "@/api/adminQueries";
import { users } from "@/api/endpoints";
import { meQuery, PAGE_SIZE, sitePermissionsQuery, siteRolesQuery } from "@/api/queries";
import type { User } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { roleName } from "@/lib/roles";
import type { SearchKey } from "@/lib/searchTerms";
import type { Tone } from "@/lib/status";
import { isNever } from "@/lib/time";
import { useTitle } from "@/lib/title";
import { usersRoute } from "@/routes/admin";
import { Button } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { SearchField } from "@/ui/SearchField";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Time } from "@/ui/Time";
import { CreateUser } from "./CreateUser";
import { PasswordOnce } from "./PasswordField";
import { RoleWords } from "./Roles";
import { DeleteUser, ResetPassword, SuspendUser, UserRoles } from "./UserDialogs";
import { type UserAction, UserMenu } from "./UserMenu";

const TONES: Record<User["status"], Tone> = { active: "running", dormant: "stopped", suspended: "failed" };

/** The keys of a search for users: `USER_SEARCH_KEYS` in `crates/store/src/users.rs`. */
function useKeys(): SearchKey[] {
  const { t } = useAdminI18n();
  const { data: roles } = useQuery(siteRolesQuery);
  return useMemo(() => {
    const { keys, status, login } = t.admin.users;
    const values: Record<string, SearchKey["values"]> = {
      status: Object.entries(status).map(([insert, hint]) => ({ insert, hint })),
      role: (roles ?? []).map((role) => ({ insert: role.name, hint: roleName(t, role) })),
      login_type: Object.entries(login)
        .filter(([type]) => type !== "" && type !== "token")
        .map(([insert, hint]) => ({ insert, hint })),
    };
    return Object.entries(keys).map(([key, hint]) => ({ key, hint, values: values[key] ?? [] }));
  }, [t, roles]);
}

function Who({ user, me }: { user: User; me: User }) {
  const { t } = useAdminI18n();
  return (
    <span className="two">
      <span>
        <strong>{user.username}</strong>
        {user.name && ` ${user.name}`}
        {user.id === me.id && <span className="muted"> ({t.admin.users.you})</span>}
      </span>
      <span className="muted small">
        {user.email}
        {user.must_change_password && ` · ${t.admin.users.mustChangeTag}`}
      </span>
    </span>
  );
}

function Status({ user }: { user: User }) {
  const { t } = useAdminI18n();
  const badge = <Badge tone={TONES[user.status]}>{t.admin.users.status[user.status]}</Badge>;
  if (user.status !== "dormant") return badge;
  return <span data-tip={t.admin.users.dormantHint}>{badge}</span>;
}

interface Opened {
  action: UserAction;
  user: User;
}

export function Users() {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const search = usersRoute.useSearch();
  const navigate = usersRoute.useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const { data: site } = useQuery(sitePermissionsQuery);
  const { data: may } = useQuery(userPermissionsQuery);
  const filter = search.filter ?? "";
  const page = search.page ?? 1;
  const { data, error, isPending, refetch } = useQuery(usersQuery(filter, page));
  const [opened, setOpened] = useState<Opened>();
  const [password, setPassword] = useState<{ title: string; password: string }>();
  const close = () => setOpened(undefined);
  const activate = useMutation({
    mutationFn: (user: User) => users.setStatus(user.id, "activate"),
    onSuccess: (news) => putUser(client, news),
  });
  const find = useCallback(
    (next: string) => void navigate({ search: next ? { filter: next } : {}, replace: true }),
    [navigate],
  );
  const showCreate = (create: boolean) =>
    void navigate({ search: ({ create: _, ...old }) => (create ? { ...old, create: true } : old) });
  useTitle(t.nav.adminPages.users, t.admin.title);
  const keys = useKeys();
  const columns = t.admin.users.columns;
  const rows = data?.users ?? [];
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.users}</h1>
        <search className="admin-search">
          <SearchField
            label={t.admin.search.users}
            hint={t.admin.search.usersHint}
            clear={t.admin.search.clear}
            suggestions={t.admin.search.suggestions}
            value={filter}
            keys={keys}
            onSearch={find}
          />
        </search>
        {site?.createUsers && (
          <Button look="primary" icon={Plus} onClick={() => showCreate(true)}>
            {t.admin.users.create}
          </Button>
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {activate.error && <ErrorNote error={activate.error} />}
      {isPending && <Skeleton rows={6} />}
      {data && rows.length === 0 && (
        <Empty
          icon={SearchX}
          title={t.admin.search.nothingTitle}
          action={<Button onClick={() => find("")}>{t.admin.search.clear}</Button>}
        >
          <p>{t.admin.search.nothingText(filter)}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <div className="panel-box cards">
            <Table
              label={t.nav.adminPages.users}
              rows={rows}
              rowKey={(user) => user.id}
              columns={[
                { title: columns.user, cell: (user) => <Who user={user} me={me} /> },
                { title: columns.roles, cell: (user) => <RoleWords roles={user.roles} /> },
                { title: columns.status, cell: (user) => <Status user={user} /> },
                { title: columns.login, cell: (user) => t.admin.users.login[user.login_type] },
                {
                  title: columns.seen,
                  cell: (user) =>
                    isNever(user.last_seen_at) ? (
                      <span className="muted">{t.admin.users.never}</span>
                    ) : (
                      <Time at={user.last_seen_at} />
                    ),
                },
                {
                  title: columns.actions,
                  actions: true,
                  cell: (user) => (
                    <UserMenu
                      user={user}
                      me={me}
                      may={may}
                      readsAuditLog={site?.readAuditLog ?? false}
                      onAction={(action) => setOpened({ action, user })}
                      onActivate={() => activate.mutate(user)}
                    />
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
          <p className="list-note">{t.admin.users.found(data?.count ?? 0)}</p>
        </>
      )}
      {search.create && site?.createUsers && (
        <CreateUser
          onClose={() => showCreate(false)}
          onCreated={(user, secret) => {
            showCreate(false);
            if (secret) setPassword({ title: t.admin.users.created(user.username), password: secret });
          }}
        />
      )}
      {opened?.action === "roles" && <UserRoles user={opened.user} onClose={close} />}
      {opened?.action === "suspend" && <SuspendUser user={opened.user} onClose={close} />}
      {opened?.action === "remove" && <DeleteUser user={opened.user} onClose={close} />}
      {opened?.action === "reset" && (
        <ResetPassword
          user={opened.user}
          onClose={close}
          onSet={(secret) => {
            close();
            setPassword({ title: t.admin.users.passwordSet(opened.user.username), password: secret });
          }}
        />
      )}
      {password && <PasswordOnce {...password} onClose={() => setPassword(undefined)} />}
    </main>
  );
}
