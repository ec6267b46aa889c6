/** The terminals of a workspace in tabs, each with an agent of its own. */

import { Link } from "@tanstack/react-router";
import { Bell, Maximize2, Plus, Search, X } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import type { Workspace, WorkspaceAgent } from "@/api/types";
import { useT } from "@/i18n";
import { canConnect, type Permissions } from "@/lib/can";
import { agentsOf } from "@/lib/status";
import {
  addTab,
  closeTab,
  loadTabs,
  saveTabs,
  showAgent,
  type TerminalTab,
  type TerminalTabs,
} from "@/lib/terminalTabs";
import { workspaceRoute } from "@/routes/workspaces";
import { Button } from "@/ui/Button";
import { Menu, MenuItem } from "@/ui/Menu";
import { Skeleton } from "@/ui/Notes";
import { NoTerminal, Terminal, TerminalOptions } from "./terminalParts";
import "@/ui/terminal/terminal.css";

/** The tabs, kept for the life of the browser's tab. */
function useTabs(workspace: string, first: string, wanted: string | undefined) {
  const [state, setState] = useState<TerminalTabs>(() => {
    const loaded = loadTabs(workspace);
    return wanted || loaded.tabs.length === 0 ? showAgent(loaded, wanted ?? first) : loaded;
  });
  useEffect(() => {
    if (wanted) setState((old) => showAgent(old, wanted));
  }, [wanted]);
  useEffect(() => saveTabs(workspace, state), [workspace, state]);
  return [state, setState] as const;
}

interface BarProps {
  state: TerminalTabs;
  tabs: readonly TerminalTab[];
  agents: WorkspaceAgent[];
  rang: ReadonlySet<string>;
  onChange: (change: (old: TerminalTabs) => TerminalTabs) => void;
}

function Tabs({ state, tabs, agents, rang, onChange }: BarProps) {
  const t = useT();
  const words = t.workspacePage.terminal;
  const several = agents.length > 1;
  const name = (tab: TerminalTab) => (several ? words.tabOf(tab.agent, tab.number) : words.tab(tab.number));
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: what can be chosen and closed is no tablist, and has no element */}
      <div className="terminal-tabs" role="group" aria-label={words.tabs}>
        {tabs.map((tab) => (
          <span
            key={tab.id}
            className={tab.id === state.active ? "terminal-tab terminal-tab-now" : "terminal-tab"}
          >
            <button
              type="button"
              aria-current={tab.id === state.active ? "true" : undefined}
              onClick={() => onChange((old) => ({ ...old, active: tab.id }))}
            >
              {rang.has(tab.id) && <Bell size={14} className="terminal-rang" aria-label={words.bell} />}
              {name(tab)}
            </button>
            {tabs.length > 1 && (
              <button
                type="button"
                className="button button-quiet button-icon"
                aria-label={words.close(name(tab))}
                data-tip={words.closeHint}
                onClick={() => onChange((old) => closeTab(old, tab.id))}
              >
                <X size={14} aria-hidden />
              </button>
            )}
          </span>
        ))}
      </div>
      {several ? (
        <Menu trigger={<Button look="quiet" icon={Plus} aria-label={words.add} />}>
          {agents.map((agent) => (
            <MenuItem key={agent.id} onSelect={() => onChange((old) => addTab(old, agent.name))}>
              {words.addIn(agent.name)}
            </MenuItem>
          ))}
        </Menu>
      ) : (
        <Button
          look="quiet"
          icon={Plus}
          label={words.add}
          onClick={() => onChange((old) => addTab(old, agents[0]?.name ?? ""))}
        />
      )}
    </>
  );
}

interface Props {
  workspace: Workspace;
  agents: WorkspaceAgent[];
  first: WorkspaceAgent;
}

function Terminals({ workspace, agents, first }: Props) {
  const t = useT();
  const words = t.workspacePage.terminal;
  const search = workspaceRoute.useSearch();
  const wanted = agents.find((agent) => agent.name === search.agent)?.name;
  const [state, setState] = useTabs(workspace.id, first.name, wanted);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set([state.active]));
  const [searching, setSearching] = useState(false);
  const [rang, setRang] = useState<ReadonlySet<string>>(new Set());
  const agentOf = (tab: TerminalTab) => agents.find((agent) => agent.name === tab.agent);
  // Those of agents that the latest build has not made are kept for the build that makes them again.
  const tabs = state.tabs.filter(agentOf);
  const active = tabs.find((tab) => tab.id === state.active) ?? tabs[0];
  const change = (how: (old: TerminalTabs) => TerminalTabs) => {
    const next = how(state);
    setState(next);
    setOpened((old) => new Set([...old, next.active]));
    setRang((old) => new Set([...old].filter((id) => id !== next.active)));
  };
  useEffect(() => {
    if (active) setOpened((old) => (old.has(active.id) ? old : new Set([...old, active.id])));
    else setState((old) => showAgent(old, first.name));
  }, [active, first.name, setState]);
  return (
    <div className="terminal-panel">
      <div className="terminal-bar">
        <Tabs
          state={{ ...state, active: active?.id ?? "" }}
          tabs={tabs}
          agents={agents}
          rang={rang}
          onChange={change}
        />
        <span className="terminal-bar-space" />
        <Button
          look="quiet"
          icon={Search}
          label={words.search}
          aria-pressed={searching}
          onClick={() => setSearching(!searching)}
        />
        <TerminalOptions />
        {active && (
          <Link
            className="button button-quiet button-icon"
            aria-label={words.full}
            data-tip={words.full}
            to="/@{$owner}/$workspace/terminal"
            params={{ owner: workspace.owner_name, workspace: `${workspace.name}.${active.agent}` }}
            search={{ reconnect: active.id }}
            target="_blank"
          >
            <Maximize2 size={16} aria-hidden />
          </Link>
        )}
      </div>
      <Suspense fallback={<Skeleton rows={2} />}>
        {tabs
          .filter((tab) => opened.has(tab.id))
          .map((tab) => {
            const agent = agentOf(tab);
            const shown = tab.id === active?.id;
            return (
              agent && (
                <Terminal
                  key={`${tab.id} ${agent.id}`}
                  agent={agent}
                  id={tab.id}
                  shown={shown}
                  searching={shown && searching}
                  onSearch={setSearching}
                  onBell={() => {
                    if (!shown) setRang((old) => new Set([...old, tab.id]));
                  }}
                />
              )
            );
          })}
      </Suspense>
    </div>
  );
}

export function TerminalPanel({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const agents = agentsOf(workspace);
  const first = agents.find((agent) => agent.status === "connected") ?? agents[0];
  if (canConnect(workspace, may) !== true || !first) return <NoTerminal workspace={workspace} may={may} />;
  return <Terminals workspace={workspace} agents={agents} first={first} />;
}
