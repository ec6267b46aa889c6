import { expect, test } from "vitest";
import type { TemplateParameter } from "@/api/types";
import { freeName, initialValues, readList, writeList } from "./parameters";

const parameter = (more: Partial<TemplateParameter>) =>
  ({
    name: "region",
    type: "string",
    options: [],
    default_value: "eu",
    ephemeral: false,
    ...more,
  }) as TemplateParameter;

test("the address wins over what was used, and that over the default", () => {
  const used = [{ name: "region", value: "us" }];
  expect(initialValues([parameter({})], used, { "param.region": "asia" })).toEqual({ region: "asia" });
  expect(initialValues([parameter({})], used, {})).toEqual({ region: "us" });
  expect(initialValues([parameter({})], [], {})).toEqual({ region: "eu" });
});

test("what cannot be chosen any more, or holds for one build only, is not proposed", () => {
  const used = [{ name: "region", value: "us" }];
  const options = [{ name: "Europe", value: "eu", description: "", icon: "" }];
  expect(initialValues([parameter({ options })], used, {})).toEqual({ region: "eu" });
  expect(initialValues([parameter({ ephemeral: true })], used, {})).toEqual({ region: "eu" });
});

test("lists are JSON, and what is no list is empty", () => {
  expect(readList(writeList(["a", "b"]))).toEqual(["a", "b"]);
  expect([readList("nonsense"), readList(""), readList('"a"')]).toEqual([[], [], []]);
});

test("a name that is free is proposed, within 32 characters", () => {
  expect(freeName("local", [])).toBe("local");
  expect(freeName("local", ["Local", "local-2"])).toBe("local-3");
  expect(freeName("a".repeat(40), ["a".repeat(28)])).toBe(`${"a".repeat(28)}-2`);
});
