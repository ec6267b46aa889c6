import { expect, test } from "vitest";
import type { Workspace } from "@/api/types";
import { BULK_ACTIONS, canBulk, inTurns, range } from "./bulk";

const workspace = (status: string, outdated = false) =>
  ({ outdated, dormant_at: null, latest_build: { status } }) as unknown as Workspace;

test("what the state of a row does not allow is skipped, with the reason", () => {
  const all = (row: Workspace) => BULK_ACTIONS.map((action) => canBulk(row, action));
  expect(all(workspace("running"))).toEqual(["running", true, "current", true]);
  expect(all(workspace("stopped", true))).toEqual([true, "stopped", true, true]);
  expect(all(workspace("starting", true))).toEqual(Array(4).fill("building"));
});

test("tasks run a few at a time, and all of them", async () => {
  const done: number[] = [];
  let now = 0;
  let most = 0;
  await inTurns([1, 2, 3, 4, 5], 2, async (item) => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
    done.push(item);
  });
  expect(done.sort()).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

test("a range goes both ways, and from a row that is gone it is the other alone", () => {
  const ids = ["a", "b", "c", "d"];
  expect(range(ids, "b", "d")).toEqual(["b", "c", "d"]);
  expect(range(ids, "d", "b")).toEqual(["b", "c", "d"]);
  expect(range(ids, "gone", "b")).toEqual(["b"]);
});
