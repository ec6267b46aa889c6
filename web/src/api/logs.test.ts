import { expect, test } from "vitest";
import { type Log, type LogLine, readAgentLog, readBuildLog, withMore } from "./logs";

const frame = (id: number, output: string) =>
  JSON.stringify([
    {
      id,
      created_at: "2026-01-01T00:00:00Z",
      log_source: "provisioner",
      log_level: "info",
      stage: "Planning",
      output,
    },
  ]);

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

test("a log that grows knows which of its lines are errors", () => {
  const line = (id: number, level: LogLine["level"]): LogLine => ({ id, at: "", level, text: `${id}` });
  const empty: Log = { lines: [], errors: [], state: "connecting" };
  const some = withMore(empty, [line(1, "info"), line(2, "error")], "live");
  const more = withMore(some, [line(3, "error"), line(4, "info")], "ended");
  expect(more).toMatchObject({ errors: [1, 2], state: "ended" });
  expect(more.lines.map((each) => each.id)).toEqual([1, 2, 3, 4]);
  expect(withMore(more, [line(5, "debug")], "ended").errors).toBe(more.errors);
});
