/** The list of workspaces: everything that one decides by, and what one does, without opening any. */

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { Plus, SearchX, SquareTerminal } from "lucide-react";
import { useEffect } from "react";
import { isStatus } from "@/api/errors";
import { useLiveList } from "@/api/live";
import { meQuery, PAGE_SIZE, templatesQuery, workspacesQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { whenIdle } from "@/lib/idle";
import { useTitle } from "@/lib/title";
import { DEFAULT_FILTER, workspaceRoute, workspacesRoute } from "@/routes/workspaces";
import { ButtonLink } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { NoTemplates } from "../templates/NoTemplates";
import { Rows } from "./Rows";
import { Search } from "./Search";
import "./workspaces.css";

const NONE: Workspace[] = [];

/** Fetches the code of the page behind each row once the list is there: the first press on one should not wait for it. */
function usePageOfRow(listed: boolean) {
  const router = useRouter();
  useEffect(() => {
    if (listed) return whenIdle(() => void router.loadRouteChunk(workspaceRoute));
  }, [router, listed]);
}

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
  if (templates.data?.length === 0) return <NoTemplates />;
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
  const rows = data?.workspaces ?? NONE;
  const { data: me } = useQuery(meQuery);
  const { data: templates } = useQuery(templatesQuery);
  const stages = useLiveList(filter, page, isStatus(error, 400));
  useTitle(t.workspaces.title);
  usePageOfRow(data !== undefined);
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.workspaces.title}</h1>
        <Search filter={filter} rows={rows} />
        {/* Without a template there is nothing to make one from, and the page says what comes first. */}
        {templates?.length !== 0 && (
          <ButtonLink to="/workspaces/new" look="primary" icon={Plus} text={t.nav.create} />
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={6} />}
      {data && rows.length === 0 && <NoWorkspaces filter={filter} />}
      {rows.length > 0 && (
        <>
          <Rows
            key={`${filter} ${page}`}
            rows={rows}
            count={data?.count ?? 0}
            me={me?.id ?? ""}
            stages={stages}
          />
          <Pages
            page={page}
            size={PAGE_SIZE}
            count={data?.count ?? 0}
            onGo={(to) => void navigate({ search: (old) => ({ ...old, page: to }) })}
          />
        </>
      )}
    </main>
  );
}
