/** The audit log: who did what to which thing, and when. */

import { useQuery } from "@tanstack/react-query";
import { ScrollText, SearchX } from "lucide-react";
import { useCallback, useMemo } from "react";
import { auditQuery, usersLikeQuery } from "@/api/adminQueries";
import { PAGE_SIZE } from "@/api/queries";
import { useAdminI18n } from "@/i18n/admin";
import { queryValue, withValue } from "@/lib/query";
import type { SearchKey } from "@/lib/searchTerms";
import { useTitle } from "@/lib/title";
import { auditRoute } from "@/routes/admin";
import { Button } from "@/ui/Button";
import { Field, FieldFrame, Select } from "@/ui/Field";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Pages } from "@/ui/Pages";
import { SearchField } from "@/ui/SearchField";
import { Suggest } from "@/ui/Suggest";
import { AuditEntry } from "./AuditEntry";
import "./audit.css";

/** The keys of a search: `SEARCH_KEYS` in `crates/server/src/app/audit.rs`. */
function useKeys(): SearchKey[] {
  const { t } = useAdminI18n();
  return useMemo(() => {
    const { keys, types, actions } = t.admin.audit;
    const values: Record<string, SearchKey["values"]> = {
      resource_type: Object.entries(types).map(([insert, hint]) => ({ insert, hint })),
      action: Object.entries(actions).map(([insert, hint]) => ({ insert, hint })),
    };
    return Object.entries(keys).map(([key, hint]) => ({ key, hint, values: values[key] ?? [] }));
  }, [t]);
}

interface FilterProps {
  filter: string;
  onFilter: (filter: string) => void;
}

/** The person, with suggestions of those who there are. */
function ByUser({ filter, onFilter }: FilterProps) {
  const { t } = useAdminI18n();
  const value = queryValue(filter, "username");
  const { data } = useQuery(usersLikeQuery(value));
  const found = data?.users ?? [];
  const put = (name: string) => onFilter(withValue(filter, "username", name));
  return (
    <FieldFrame label={t.admin.audit.user}>
      {(control) => (
        <Suggest
          {...control}
          value={value}
          onText={(text) => text !== value && put(text.trim())}
          suggestionsLabel={t.admin.search.suggestions}
          suggestions={found.map((user) => ({ key: user.id, shown: user.username, hint: user.name }))}
          onPick={(index) => {
            put(found[index]?.username ?? "");
            return undefined;
          }}
        />
      )}
    </FieldFrame>
  );
}

function Filters({ filter, onFilter }: FilterProps) {
  const { t } = useAdminI18n();
  const words = t.admin.audit;
  const put = (key: string) => (value: string) => onFilter(withValue(filter, key, value));
  const any = ["", words.any] as const;
  const day = (key: "date_from" | "date_to", label: string) => (
    <Field
      label={label}
      type="date"
      value={queryValue(filter, key)}
      onChange={(event) => put(key)(event.target.value)}
    />
  );
  return (
    <div className="tools">
      <Select
        label={words.type}
        value={queryValue(filter, "resource_type")}
        options={[any, ...Object.entries(words.types)]}
        onPick={put("resource_type")}
      />
      <Select
        label={words.action}
        value={queryValue(filter, "action")}
        options={[any, ...Object.entries(words.actions)]}
        onPick={put("action")}
      />
      <ByUser filter={filter} onFilter={onFilter} />
      {day("date_from", words.from)}
      {day("date_to", words.to)}
    </div>
  );
}

export function Audit() {
  const { t } = useAdminI18n();
  const search = auditRoute.useSearch();
  const navigate = auditRoute.useNavigate();
  const filter = search.filter ?? "";
  const page = search.page ?? 1;
  const { data, error, isPending, refetch } = useQuery(auditQuery(filter, page));
  const find = useCallback(
    (next: string) => void navigate({ search: next ? { filter: next } : {}, replace: true }),
    [navigate],
  );
  const keys = useKeys();
  useTitle(t.nav.adminPages.audit, t.admin.title);
  const rows = data?.audit_logs ?? [];
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.audit}</h1>
        <search className="admin-search">
          <SearchField
            label={t.admin.search.audit}
            hint={t.admin.search.auditHint}
            clear={t.admin.search.clear}
            suggestions={t.admin.search.suggestions}
            value={filter}
            keys={keys}
            onSearch={find}
          />
        </search>
      </div>
      <Filters filter={filter} onFilter={find} />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={8} />}
      {data && rows.length === 0 && (
        <Empty
          icon={filter ? SearchX : ScrollText}
          title={filter ? t.admin.search.nothingTitle : t.admin.audit.emptyTitle}
          action={filter && <Button onClick={() => find("")}>{t.admin.search.clear}</Button>}
        >
          <p>{filter ? t.admin.search.nothingText(filter) : t.admin.audit.emptyText}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <ol className="panel-box entries" aria-label={t.nav.adminPages.audit}>
            {rows.map((entry) => (
              <AuditEntry key={entry.id} entry={entry} opened={filter.includes("request_id:")} />
            ))}
          </ol>
          <Pages
            page={page}
            size={PAGE_SIZE}
            count={data?.count ?? 0}
            onGo={(to) => void navigate({ search: (old) => ({ ...old, page: to }) })}
          />
          <p className="list-note">{t.admin.audit.found(data?.count ?? 0)}</p>
        </>
      )}
    </main>
  );
}
