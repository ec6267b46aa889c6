/** The search field in the server's query language, and the searches that one makes most. */

import { ListFilter, SearchIcon, X } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { useT } from "@/i18n";
import { DEFAULT_FILTER, workspacesRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Menu, MenuChoice } from "@/ui/Menu";
import "@/ui/input.css";

/** How long after the last key a search begins. */
const PAUSE_MS = 250;

const PRESETS = {
  mine: DEFAULT_FILTER,
  running: `${DEFAULT_FILTER} status:running`,
  failed: `${DEFAULT_FILTER} status:failed`,
  outdated: `${DEFAULT_FILTER} outdated:true`,
  all: "",
} as const;

type Preset = keyof typeof PRESETS;

export function Search({ filter }: { filter: string }) {
  const t = useT();
  const hint = useId();
  const navigate = workspacesRoute.useNavigate();
  const [text, setText] = useState(filter);
  const [sent, setSent] = useState(filter);
  // The address is the truth: a link or the back button changes the field.
  if (filter !== sent) {
    setSent(filter);
    setText(filter);
  }

  useEffect(() => {
    if (text.trim() === sent) return;
    const timer = window.setTimeout(() => {
      setSent(text.trim());
      void navigate({ search: { filter: text.trim() }, replace: true });
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, sent, navigate]);

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
      <div className="search-field">
        <SearchIcon size={16} aria-hidden />
        <input
          type="text"
          className="input"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-label={t.workspaces.search}
          aria-describedby={hint}
          placeholder={t.workspaces.search}
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
        />
        {text !== "" && (
          <Button look="quiet" icon={X} label={t.workspaces.clear} onClick={() => setText("")} />
        )}
        <p className="search-hint" id={hint}>
          {t.workspaces.searchHint}
        </p>
      </div>
    </search>
  );
}
