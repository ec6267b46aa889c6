/** The list of workspaces: everything that one decides by, and what one does, without opening any. */

import { useQuery } from "@tanstack/react-query";
import { Plus, SearchX, SquareTerminal } from "lucide-react";
import { useLiveWorkspaces } from "@/api/live";
import { PAGE_SIZE, templatesQuery, workspacesQuery } from "@/api/queries";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import { DEFAULT_FILTER, workspacesRoute } from "@/routes/workspaces";
import { ButtonLink } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { Search } from "./Search";
import { WorkspaceRow } from "./WorkspaceRow";
import "./workspaces.css";

const PUSH_COMMAND = "coder templates init && coder templates push";

function NoWorkspaces({ filter }: { filter: string }) {
  const t = useT();
  const templates = useQuery(templatesQuery);
  if (filter !== "" && filter !== DEFAULT_FILTER) {
    return (
      <Empty
        icon={SearchX}
        title={t.workspaces.nothingTitle}
        action={<ButtonLink to="/workspaces" search={{ filter: "" }} text={t.workspaces.clear} />}
      >
        <p>{t.workspaces.nothingText(filter)}</p>
      </Empty>
    );
  }
  if (templates.data?.length === 0) {
    return (
      <Empty icon={SquareTerminal} title={t.workspaces.noTemplateTitle}>
        <p>{t.workspaces.noTemplateText}</p>
        <p className="command">
          <code>{PUSH_COMMAND}</code>
          <CopyButton text={() => PUSH_COMMAND} />
        </p>
      </Empty>
    );
  }
  return (
    <Empty
      icon={SquareTerminal}
      title={t.workspaces.emptyTitle}
      action={<ButtonLink to="/workspaces/new" look="primary" icon={Plus} text={t.workspaces.emptyAction} />}
    >
      <p>{t.workspaces.emptyText}</p>
    </Empty>
  );
}

export function Workspaces() {
  const t = useT();
  const search = workspacesRoute.useSearch();
  const navigate = workspacesRoute.useNavigate();
  const filter = search.filter ?? DEFAULT_FILTER;
  const page = search.page ?? 1;
  const { data, error, isPending, refetch } = useQuery(workspacesQuery(filter, page));
  const rows = data?.workspaces ?? [];
  useLiveWorkspaces(rows);
  useTitle(t.workspaces.title);
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.workspaces.title}</h1>
        <Search filter={filter} />
        <ButtonLink to="/workspaces/new" look="primary" icon={Plus} text={t.nav.create} />
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={6} />}
      {data && rows.length === 0 && <NoWorkspaces filter={filter} />}
      {rows.length > 0 && (
        <>
          <ul className="rows" aria-label={t.workspaces.title}>
            {rows.map((workspace) => (
              <WorkspaceRow key={workspace.id} workspace={workspace} />
            ))}
          </ul>
          <Pages
            page={page}
            size={PAGE_SIZE}
            count={data?.count ?? 0}
            onGo={(to) => void navigate({ search: (old) => ({ ...old, page: to }) })}
          />
          <p className="muted small">
            {t.workspaces.found(data?.count ?? 0)}. {t.workspaces.live}
          </p>
        </>
      )}
    </main>
  );
}
