import { expect, test } from "vitest";
import type { TemplateParameter, TemplateVersion } from "@/api/types";
import { askedOf, lacksValues, versionsBetween } from "./update";

const parameter = (name: string, more: Partial<TemplateParameter> = {}) =>
  ({
    name,
    type: "string",
    mutable: true,
    required: false,
    ephemeral: false,
    default_value: "d",
    options: [],
    ...more,
  }) as TemplateParameter;
const option = (value: string) => ({ value, name: value, description: "", icon: "" });
const names = (next: TemplateParameter[], kept: Record<string, string>) =>
  askedOf(
    next,
    Object.entries(kept).map(([name, value]) => ({ name, value })),
  ).map(({ parameter, because, value }) => [parameter.name, because, value]);

test("nothing is asked when all values can be kept", () => {
  expect(names([parameter("a"), parameter("b", { options: [option("x")] })], { a: "", b: "x" })).toEqual([]);
});

test("what is new is asked, with its default", () => {
  expect(names([parameter("a"), parameter("b", { required: true, default_value: "" })], { a: "1" })).toEqual([
    ["b", "new", ""],
  ]);
});

test("a value that the version would refuse is asked again", () => {
  expect(
    names(
      [
        parameter("size", { options: [option("s"), option("m")] }),
        parameter("cpu", { type: "number", validation_min: 1, validation_max: 4 }),
        parameter("on", { type: "bool" }),
        parameter("list", { type: "list(string)", options: [option("x")] }),
      ],
      { size: "xl", cpu: "8", on: "maybe", list: '["y"]' },
    ).map(([name, because]) => [name, because]),
  ).toEqual([
    ["size", "refused"],
    ["cpu", "refused"],
    ["on", "refused"],
    ["list", "refused"],
  ]);
});

test("what holds for one build only is asked when it must be given", () => {
  expect(names([parameter("e", { ephemeral: true })], { e: "1" })).toEqual([]);
  expect(names([parameter("e", { ephemeral: true, required: true })], { e: "1" })).toEqual([
    ["e", "new", "d"],
  ]);
});

test("only what has no default, or is refused, has to be given before a start", () => {
  const size = parameter("size", { options: [option("s")] });
  const kept = [{ name: "size", value: "s" }];
  expect(lacksValues([size, parameter("new")], kept)).toBe(false);
  expect(lacksValues([size, parameter("new", { required: true })], kept)).toBe(true);
  expect(lacksValues([size], [{ name: "size", value: "xl" }])).toBe(true);
});

test("the versions between are those that came after, and work", () => {
  const version = (id: string, day: number, status = "succeeded") =>
    ({ id, created_at: `2026-01-0${day}T00:00:00Z`, job: { status } }) as TemplateVersion;
  const all = [
    version("1", 1),
    version("2", 2),
    version("bad", 3, "failed"),
    version("4", 4),
    version("5", 5),
  ];
  const between = (built: string, active: string) => versionsBetween(all, built, active).map(({ id }) => id);
  expect(between("1", "4")).toEqual(["4", "2"]);
  expect(between("4", "5")).toEqual(["5"]);
  // The active one is older: it alone is what comes.
  expect(between("5", "2")).toEqual(["2"]);
  expect(between("1", "gone")).toEqual([]);
});
