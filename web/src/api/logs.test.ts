import { expect, test } from "vitest";
import { readAgentLog, readBuildLog } from "./logs";

const frame = (id: number, output: string) =>
  JSON.stringify({
    id,
    created_at: "2026-01-01T00:00:00Z",
    log_source: "provisioner",
    log_level: "info",
    stage: "Planning",
    output,
  });

test("an empty line of a build begins a stage", () => {
  expect(readBuildLog(frame(1, ""), undefined)[0]).toMatchObject({ text: "Planning", heading: true });
  expect(readBuildLog(frame(2, "Plan: 1"), undefined)[0]).toMatchObject({ text: "Plan: 1" });
});

test("lines that come again after a broken connection are not shown twice", () => {
  const [last] = readBuildLog(frame(5, "x"), undefined);
  expect(readBuildLog(frame(5, "x"), last)).toEqual([]);
  const agent = (id: number) => ({ id, created_at: "", output: `${id}`, level: "info", source_id: "" });
  expect(readAgentLog(JSON.stringify([agent(5), agent(6)]), last).map((line) => line.id)).toEqual([6]);
});
