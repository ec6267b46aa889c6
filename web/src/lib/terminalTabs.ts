/** The terminals that a browser tab has open in a workspace: kept for the life of the tab, so that a reload finds them again. */

export interface TerminalTab {
  /** Names the terminal to the agent. */
  id: string;
  /** The agent's name: the agent itself is another one after each build. */
  agent: string;
  number: number;
}

export interface TerminalTabs {
  tabs: readonly TerminalTab[];
  active: string;
}

/** A random UUID. `crypto.randomUUID` exists on HTTPS and localhost only, and deployments may be on plain HTTP. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

/** Opens another terminal; its number is the smallest that is free among the agent's. */
export function addTab({ tabs }: TerminalTabs, agent: string): TerminalTabs {
  const taken = new Set(tabs.filter((tab) => tab.agent === agent).map((tab) => tab.number));
  let number = 1;
  while (taken.has(number)) number += 1;
  const tab = { id: newId(), agent, number };
  return { tabs: [...tabs, tab], active: tab.id };
}

/** Closes one; the one after it comes to the front, or the last. */
export function closeTab({ tabs, active }: TerminalTabs, id: string): TerminalTabs {
  const at = tabs.findIndex((tab) => tab.id === id);
  const rest = tabs.filter((tab) => tab.id !== id);
  const next = rest[Math.min(at, rest.length - 1)];
  return { tabs: rest, active: active === id ? (next?.id ?? "") : active };
}

/** Brings a terminal of the agent to the front, and opens one when there is none. */
export function showAgent(state: TerminalTabs, agent: string): TerminalTabs {
  const active = state.tabs.find((tab) => tab.id === state.active);
  if (active?.agent === agent) return state;
  const found = state.tabs.find((tab) => tab.agent === agent);
  return found ? { ...state, active: found.id } : addTab(state, agent);
}

const EMPTY: TerminalTabs = { tabs: [], active: "" };
const key = (workspace: string) => `coder.terminals.${workspace}`;

function isTab(value: unknown): value is TerminalTab {
  const tab = value as Partial<TerminalTab> | null;
  return (
    typeof tab?.id === "string" &&
    isId(tab.id) &&
    typeof tab.agent === "string" &&
    Number.isSafeInteger(tab.number)
  );
}

export function loadTabs(workspace: string): TerminalTabs {
  try {
    const stored = JSON.parse(
      sessionStorage.getItem(key(workspace)) ?? "null",
    ) as Partial<TerminalTabs> | null;
    const tabs = Array.isArray(stored?.tabs) ? stored.tabs.filter(isTab) : [];
    const active = tabs.find((tab) => tab.id === stored?.active) ?? tabs[0];
    return active ? { tabs, active: active.id } : EMPTY;
  } catch {
    return EMPTY;
  }
}

export function saveTabs(workspace: string, state: TerminalTabs) {
  try {
    sessionStorage.setItem(key(workspace), JSON.stringify(state));
  } catch {
    // Without storage a reload opens new terminals.
  }
}
