import { expect, test } from "vitest";
import type { Workspace } from "@/api/types";
import { canCancel, canConnect, canRestart, canStart, canStop, canUpdate, type Permissions } from "./can";
import { stateOf } from "./status";
import { stepOf } from "./steps";

const ALL: Permissions = { start: true, stop: true, ssh: true, update: true, delete: true, manage: false };

function workspace(status: string, more: object = {}): Workspace {
  return {
    outdated: false,
    dormant_at: null,
    template_allow_user_cancel_workspace_jobs: true,
    health: { healthy: true, failing_agents: [] },
    latest_build: {
      status,
      transition: status.startsWith("stop") ? "stop" : "start",
      job: { status: status === "starting" ? "running" : "succeeded" },
      resources: [],
    },
    ...more,
  } as unknown as Workspace;
}

test("one build at a time", () => {
  for (const status of ["pending", "starting", "stopping", "canceling"]) {
    const busy = workspace(status);
    expect([canStart(busy, ALL), canStop(busy, ALL), canRestart(busy, ALL)]).toEqual(
      Array(3).fill("building"),
    );
  }
});

test("what makes no sense is refused with a reason", () => {
  expect(canStart(workspace("running"), ALL)).toBe("running");
  expect(canStop(workspace("stopped"), ALL)).toBe("stopped");
  expect(canStart(workspace("stopped", { dormant_at: "2026-01-01T00:00:00Z" }), ALL)).toBe("dormant");
  expect(canUpdate(workspace("stopped"), ALL)).toBe("current");
  expect(canConnect(workspace("stopped"), ALL)).toBe("stopped");
  expect(canStart(workspace("failed"), ALL)).toBe(true);
});

test("who may not, cannot", () => {
  const none: Permissions = {
    start: false,
    stop: false,
    ssh: false,
    update: false,
    delete: false,
    manage: false,
  };
  const running = workspace("running", { outdated: true });
  expect([canStop(running, none), canUpdate(running, none), canConnect(running, none)]).toEqual(
    Array(3).fill("notAllowed"),
  );
});

test("a template may forbid its users to cancel, but not those who manage it", () => {
  const strict = workspace("starting", { template_allow_user_cancel_workspace_jobs: false });
  expect(canCancel(strict, ALL)).toBe("cancelForbidden");
  expect(canCancel(strict, { ...ALL, manage: true })).toBe(true);
});

test("a state says more than the last build", () => {
  expect(stateOf(workspace("running", { health: { healthy: false, failing_agents: ["a"] } }))).toBe(
    "unhealthy",
  );
  expect(stateOf(workspace("stopped", { dormant_at: "2026-01-01T00:00:00Z" }))).toBe("dormant");
  expect(stateOf(workspace("failed"))).toBe("failed");
});

test("a start goes through its steps", () => {
  const built = workspace("running");
  const withAgent = (agent: object) => {
    built.latest_build.resources = [{ agents: [agent] }] as unknown as Workspace["latest_build"]["resources"];
    return stepOf(built);
  };
  expect(stepOf(workspace("starting"))).toBe("build");
  expect(withAgent({ status: "connecting", lifecycle_state: "created" })).toBe("agent");
  expect(withAgent({ status: "connected", lifecycle_state: "starting" })).toBe("scripts");
  expect(withAgent({ status: "connected", lifecycle_state: "ready" })).toBe("ready");
  expect(stepOf(workspace("stopped"))).toBeUndefined();
});
