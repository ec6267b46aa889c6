import { beforeEach, expect, test, vi } from "vitest";
import {
  addTab,
  closeTab,
  isId,
  loadTabs,
  newId,
  saveTabs,
  showAgent,
  type TerminalTabs,
} from "./terminalTabs";

const EMPTY: TerminalTabs = { tabs: [], active: "" };
const names = ({ tabs }: TerminalTabs) => tabs.map((tab) => `${tab.agent} ${tab.number}`);

beforeEach(() => {
  const stored = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
});

test("ids are UUIDs, and never twice the same", () => {
  expect(isId(newId())).toBe(true);
  expect(newId()).not.toBe(newId());
  expect(isId("x")).toBe(false);
});

test("a new terminal comes to the front, with the first number that is free", () => {
  let state = addTab(addTab(addTab(EMPTY, "main"), "main"), "gpu");
  expect(names(state)).toEqual(["main 1", "main 2", "gpu 1"]);
  expect(state.active).toBe(state.tabs[2]?.id);
  state = addTab(closeTab(state, state.tabs[0]?.id ?? ""), "main");
  expect(names(state)).toEqual(["main 2", "gpu 1", "main 1"]);
});

test("closing the one in front shows its neighbour, and closing another one nothing else", () => {
  const state = addTab(addTab(addTab(EMPTY, "main"), "main"), "main");
  const [first, second, third] = state.tabs.map((tab) => tab.id);
  expect(closeTab(state, third ?? "").active).toBe(second);
  expect(closeTab({ ...state, active: first ?? "" }, first ?? "").active).toBe(second);
  expect(closeTab(state, first ?? "").active).toBe(third);
  expect(closeTab(addTab(EMPTY, "main"), "?").tabs).toHaveLength(1);
});

test("an agent's terminal is shown, or opened", () => {
  const state = addTab(addTab(EMPTY, "main"), "gpu");
  expect(showAgent(state, "gpu")).toBe(state);
  expect(showAgent(state, "main").active).toBe(state.tabs[0]?.id);
  expect(names(showAgent(state, "db"))).toEqual(["main 1", "gpu 1", "db 1"]);
});

test("a reload finds them again, and nothing that is no terminal", () => {
  const state = addTab(addTab(EMPTY, "main"), "main");
  saveTabs("w", state);
  expect(loadTabs("w")).toEqual(state);
  expect(loadTabs("other")).toEqual(EMPTY);
  sessionStorage.setItem(
    "coder.terminals.w",
    '{"tabs":[{"id":"no","agent":"main","number":1},null],"active":"no"}',
  );
  expect(loadTabs("w")).toEqual(EMPTY);
  sessionStorage.setItem("coder.terminals.w", "{");
  expect(loadTabs("w")).toEqual(EMPTY);
});
