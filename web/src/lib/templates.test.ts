import { expect, test } from "vitest";
import type { Template, TemplateVersion } from "@/api/types";
import { fromMs, matchingTemplates, templateChange, toMs, versionActions } from "./templates";

const template = (name: string, more: Partial<Template> = {}) =>
  ({ name, display_name: "", description: "", active_user_count: 0, deprecated: false, ...more }) as Template;

test("templates are found by all words, wherever they stand", () => {
  const all = [
    template("docker", { display_name: "Docker", description: "Containers on one machine" }),
    template("local", { description: "Processes on the server's MACHINE" }),
  ];
  const names = (filter: string) => matchingTemplates(all, filter).map(({ name }) => name);
  expect(names("")).toEqual(["docker", "local"]);
  expect(names("machine")).toEqual(["docker", "local"]);
  expect(names("  MACHINE container")).toEqual(["docker"]);
  expect(names("nothing")).toEqual([]);
});

test("templates that are used come first, deprecated ones last", () => {
  const all = [
    template("old", { deprecated: true, active_user_count: 9 }),
    template("b"),
    template("a"),
    template("used", { active_user_count: 3 }),
  ];
  expect(matchingTemplates(all, "").map(({ name }) => name)).toEqual(["used", "a", "b", "old"]);
});

test("a change of one setting leaves the others as they are", () => {
  const change = templateChange(
    template("a", { default_ttl_ms: 5, activity_bump_ms: 7, require_active_version: true }),
    { description: "new" },
  );
  expect(change).toMatchObject({
    description: "new",
    default_ttl_ms: 5,
    activity_bump_ms: 7,
    require_active_version: true,
  });
  expect(change).not.toHaveProperty("name");
});

test("lengths of time go to and fro, and never are empty", () => {
  const hour = 3_600_000;
  expect([toMs("", hour), toMs("8", hour), toMs("0.5", hour), toMs("1,5", hour)]).toEqual([
    0,
    8 * hour,
    hour / 2,
    1.5 * hour,
  ]);
  expect([toMs("-1", hour), toMs("x", hour), toMs("1e9", hour), toMs("1.2.3", hour)]).toEqual(
    Array(4).fill(undefined),
  );
  expect([fromMs(0, hour), fromMs(8 * hour, hour), fromMs(1.5 * hour, hour)]).toEqual(["", "8", "1.5"]);
});

test("a version can be promoted when its import succeeded, and archived when it is not active", () => {
  const version = (status: string, more: object = {}) =>
    ({
      id: "v",
      archived: false,
      job: { status, ...(status === "running" ? {} : { completed_at: "2026-01-01T00:00:00Z" }) },
      ...more,
    }) as TemplateVersion;
  const can = (each: TemplateVersion, active = "other") => versionActions(each, active);
  expect(can(version("succeeded"))).toEqual({ promote: true, archive: true, unarchive: false });
  expect(can(version("succeeded"), "v")).toEqual({ promote: false, archive: false, unarchive: false });
  expect(can(version("failed"))).toEqual({ promote: false, archive: true, unarchive: false });
  expect(can(version("running"))).toEqual({ promote: false, archive: false, unarchive: false });
  expect(can(version("succeeded", { archived: true }))).toEqual({
    promote: false,
    archive: false,
    unarchive: true,
  });
});
