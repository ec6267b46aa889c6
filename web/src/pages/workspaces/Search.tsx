/** The search over workspaces with what it offers, and the searches that one makes most. */

import { useQuery } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { useCallback, useMemo } from "react";
import { meQuery, templatesQuery } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import type { SearchKey } from "@/lib/searchTerms";
import { DEFAULT_FILTER, workspacesRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Menu, MenuChoice } from "@/ui/Menu";
import { SearchField } from "@/ui/SearchField";

const PRESETS = {
  mine: DEFAULT_FILTER,
  running: `${DEFAULT_FILTER} status:running`,
  failed: `${DEFAULT_FILTER} status:failed`,
  outdated: `${DEFAULT_FILTER} outdated:true`,
  dormant: `${DEFAULT_FILTER} dormant:true`,
  all: "",
} as const;

type Preset = keyof typeof PRESETS;

/** The words of `coder_model::states`, which the server's search takes. */
const STATUSES = [
  "running",
  "stopped",
  "failed",
  "pending",
  "starting",
  "stopping",
  "canceling",
  "canceled",
  "deleting",
  "deleted",
] as const;
const AGENT_STATUSES = ["connected", "connecting", "disconnected", "timeout"] as const;
const FLAGS = ["true", "false"] as const;
const DAY_MS = 86_400_000;

const plain = (values: readonly string[]) => values.map((insert) => ({ insert }));

/** Midnights of UTC some days ago, as the server reads times. */
const daysAgo = (days: number) =>
  new Date(Math.floor(Date.now() / DAY_MS - days) * DAY_MS).toISOString().replace(".000", "");

/** The keys of `WORKSPACE_SEARCH_KEYS` in `crates/store/src/workspace_search.rs` that a person types. */
function useKeys(rows: readonly Workspace[]): SearchKey[] {
  const t = useT();
  const { data: me } = useQuery(meQuery);
  const { data: templates } = useQuery(templatesQuery);
  return useMemo(() => {
    const hints = t.workspaces.keys;
    const distinct = (of: (row: Workspace) => string) => [...new Set(rows.map(of))].sort();
    const owners = distinct((row) => row.owner_name).filter((name) => name !== me?.username);
    const flags = plain(FLAGS);
    const times = [1, 7, 30, 90].map((days) => ({
      insert: daysAgo(days),
      hint: t.workspaces.daysAgo(days),
    }));
    return [
      { key: "owner", hint: hints.owner, values: [{ insert: "me", hint: me?.username }, ...plain(owners)] },
      {
        key: "status",
        hint: hints.status,
        values: STATUSES.map((insert) => ({ insert, hint: t.status[insert] })),
      },
      {
        key: "template",
        hint: hints.template,
        values: (templates ?? []).map(({ name, display_name }) => ({
          insert: name,
          hint: display_name === name ? undefined : display_name,
        })),
      },
      { key: "name", hint: hints.name, values: [] },
      { key: "outdated", hint: hints.outdated, values: flags },
      { key: "dormant", hint: hints.dormant, values: flags },
      { key: "has-agent", hint: hints.agent, values: plain(AGENT_STATUSES) },
      { key: "healthy", hint: hints.healthy, values: flags },
      { key: "last_used_before", hint: hints.usedBefore, values: times },
      { key: "last_used_after", hint: hints.usedAfter, values: times },
      {
        key: "organization",
        hint: hints.organization,
        values: plain(distinct((row) => row.organization_name)),
      },
      { key: "param", hint: hints.param, values: [] },
    ];
  }, [t, me, templates, rows]);
}

export function Search({ filter, rows }: { filter: string; rows: readonly Workspace[] }) {
  const t = useT();
  const navigate = workspacesRoute.useNavigate();
  const keys = useKeys(rows);
  const onSearch = useCallback(
    (text: string) => void navigate({ search: { filter: text }, replace: true }),
    [navigate],
  );
  const names = Object.keys(PRESETS) as Preset[];
  const labels = Object.fromEntries(names.map((name) => [name, t.workspaces.filters[name]])) as Record<
    Preset,
    string
  >;
  const chosen = names.find((name) => PRESETS[name] === filter);
  return (
    <search className="search">
      <Menu
        trigger={
          <Button
            icon={ListFilter}
            {...(chosen ? { "aria-label": t.actions.of(t.workspaces.filters.label, labels[chosen]) } : {})}
          >
            {chosen ? labels[chosen] : t.workspaces.filters.label}
          </Button>
        }
      >
        <MenuChoice
          label={t.workspaces.filters.label}
          value={chosen ?? ("" as Preset)}
          options={labels}
          onChange={(name) => void navigate({ search: { filter: PRESETS[name] } })}
        />
      </Menu>
      <SearchField
        label={t.workspaces.search}
        hint={t.workspaces.searchHint}
        clear={t.workspaces.clear}
        suggestions={t.workspaces.suggestions}
        value={filter}
        keys={keys}
        onSearch={onSearch}
      />
    </search>
  );
}
