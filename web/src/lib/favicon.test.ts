import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { faviconOf } from "./favicon";
import type { State } from "./status";

const STATES: Record<State, true> = {
  pending: true,
  starting: true,
  running: true,
  stopping: true,
  stopped: true,
  failed: true,
  canceling: true,
  canceled: true,
  deleting: true,
  deleted: true,
  dormant: true,
  unhealthy: true,
};

test("each state has an icon that is there", () => {
  for (const state of Object.keys(STATES) as State[]) {
    expect(existsSync(new URL(`../../public${faviconOf(state)}`, import.meta.url)), state).toBe(true);
  }
});

test("what differs looks different", () => {
  const icons = (["running", "starting", "failed", "unhealthy", "stopped"] as const).map(faviconOf);
  expect(new Set(icons).size).toBe(icons.length);
});
