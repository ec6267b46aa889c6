import { expect, test } from "vitest";
import type { BuildTimings, WorkspaceBuild } from "@/api/types";
import { stagesOf, ticks } from "./timings";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const ms = (second: number) => Date.parse(at(second));

const build = (job: object) => ({ job: { created_at: at(0), ...job } }) as WorkspaceBuild;
const resource = (stage: string, from: number, to: number, name: string) => ({
  job_id: "",
  stage,
  action: "create",
  source: "docker",
  resource: name,
  started_at: at(from),
  ended_at: at(to),
});

const TIMINGS: BuildTimings = {
  provisioner_timings: [
    resource("apply", 6, 9, "docker_container.main"),
    resource("apply", 5, 7, "docker_volume.home"),
    resource("init", 1, 3, ""),
    resource("plan", 3, 5, "data.coder_workspace.me"),
    resource("something new", 3, 90, "x"),
  ],
  agent_connection_timings: [
    {
      started_at: at(9),
      ended_at: at(10),
      stage: "connect",
      workspace_agent_id: "a",
      workspace_agent_name: "main",
    },
  ],
  agent_script_timings: [
    {
      started_at: at(10),
      ended_at: at(12),
      exit_code: 1,
      stage: "start",
      status: "exit_failure",
      display_name: "Install",
      workspace_agent_id: "a",
      workspace_agent_name: "main",
    },
    {
      started_at: at(3600),
      ended_at: at(3601),
      exit_code: 0,
      stage: "cron",
      status: "ok",
      display_name: "Nightly",
      workspace_agent_id: "a",
      workspace_agent_name: "main",
    },
  ],
};

test("stages come in the order of a build and span what is in them", () => {
  const stages = stagesOf(build({ started_at: at(1) }), TIMINGS, ms(99));
  expect(stages.map(({ stage, from, to }) => [stage, from, to])).toEqual([
    ["queued", ms(0), ms(1)],
    ["init", ms(1), ms(3)],
    ["plan", ms(3), ms(5)],
    ["apply", ms(5), ms(9)],
    ["connect", ms(9), ms(10)],
    ["start", ms(10), ms(12)],
  ]);
  const apply = stages.find(({ stage }) => stage === "apply");
  expect(apply?.parts.map(({ name }) => name)).toEqual(["docker_volume.home", "docker_container.main"]);
  expect(stages.find(({ stage }) => stage === "init")?.parts[0]?.name).toBe("create");
});

test("a script that failed is told, with how it ended", () => {
  const start = stagesOf(build({}), TIMINGS, ms(20)).find(({ stage }) => stage === "start");
  expect(start?.failed).toBe(true);
  expect(start?.parts[0]?.note).toBe("main · exit_failure, 1");
});

test("a build that waits has waited until now", () => {
  expect(stagesOf(build({}), undefined, ms(7))).toMatchObject([{ stage: "queued", from: ms(0), to: ms(7) }]);
  expect(stagesOf(build({ completed_at: at(4) }), undefined, ms(7))[0]?.to).toBe(ms(4));
});

test("an axis has marks that read well, and few", () => {
  expect(ticks(12_000, 6)).toEqual([0, 5000, 10_000]);
  expect(ticks(0, 6)).toEqual([0]);
  expect(ticks(90_000, 6)).toEqual([0, 30_000, 60_000, 90_000]);
  for (const length of [1, 999, 61_000, 5_000_000, 1e12]) {
    expect(ticks(length, 6).length, String(length)).toBeLessThanOrEqual(6);
  }
});
