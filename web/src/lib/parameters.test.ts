import { expect, test } from "vitest";
import type { Preset, TemplateParameter } from "@/api/types";
import {
  checkValue,
  controlOf,
  freeName,
  givenValues,
  isName,
  presetValues,
  readList,
  startPreset,
  startValues,
  writeList,
} from "./parameters";

const parameter = (more: Partial<TemplateParameter> = {}) =>
  ({
    name: "region",
    type: "string",
    form_type: "",
    options: [],
    default_value: "eu",
    ephemeral: false,
    required: false,
    ...more,
  }) as TemplateParameter;

const option = (value: string) => ({ name: value.toUpperCase(), value, description: "", icon: "" });

test("the address wins over a copied workspace, that over what was used, and that over the default", () => {
  const used = [{ name: "region", value: "us" }];
  const copied = [{ name: "region", value: "africa" }];
  const search = { "param.region": "asia" };
  const start = (sources: Parameters<typeof startValues>[1], more = {}) => {
    const { values, origins } = startValues([parameter(more)], sources);
    return [values.region, origins.region];
  };
  expect(start({ used, copied, search })).toEqual(["asia", "link"]);
  expect(start({ used, copied, search: {} })).toEqual(["africa", "copy"]);
  expect(start({ used, search: {} })).toEqual(["us", "used"]);
  expect(start({ used: [], search: {} })).toEqual(["eu", undefined]);
  expect(start({ used: [{ name: "region", value: "eu" }], search: {} })).toEqual(["eu", undefined]);
});

test("what cannot be chosen any more, or holds for one build only, is not proposed", () => {
  const used = [{ name: "region", value: "us" }];
  const options = [option("eu")];
  const values = (more: Partial<TemplateParameter>, search = {}) =>
    startValues([parameter(more)], { used, copied: used, search }).values;
  expect(values({ options })).toEqual({ region: "eu" });
  expect(values({ options }, { "param.region": "mars" })).toEqual({ region: "eu" });
  expect(values({ ephemeral: true })).toEqual({ region: "eu" });
  expect(values({ ephemeral: true }, { "param.region": "asia" })).toEqual({ region: "asia" });
});

test("a control that always has a value begins with one", () => {
  const begin = (more: Partial<TemplateParameter>) =>
    startValues([parameter({ default_value: "", ...more })], { used: [], search: {} }).values.region;
  expect(begin({ type: "bool" })).toBe("false");
  expect(begin({ type: "number", form_type: "slider", validation_min: 2, validation_max: 4 })).toBe("2");
  expect([begin({}), begin({ type: "number" })]).toEqual(["", ""]);
});

test("each type has the controls that its provider knows, and the first of them without a wish", () => {
  const control = (type: string, form_type: string, more: Partial<TemplateParameter> = {}) =>
    controlOf(parameter({ type, form_type, ...more }));
  const options = [option("a"), option("b")];
  const ends = { validation_min: 1, validation_max: 5 };
  expect([control("string", ""), control("string", "textarea"), control("string", "slider")]).toEqual([
    "input",
    "textarea",
    "input",
  ]);
  expect([
    control("number", ""),
    control("number", "slider", ends),
    control("number", "slider", { validation_min: 1 }),
  ]).toEqual(["input", "slider", "input"]);
  expect([control("bool", ""), control("bool", "switch")]).toEqual(["checkbox", "switch"]);
  expect([control("list(string)", ""), control("list(string)", "input")]).toEqual([
    "tag-select",
    "tag-select",
  ]);
  for (const type of ["string", "number", "bool"]) {
    expect([control(type, "", { options }), control(type, "dropdown", { options })]).toEqual([
      "radio",
      "dropdown",
    ]);
  }
  expect([
    control("list(string)", "", { options }),
    control("list(string)", "multi-select", { options }),
  ]).toEqual(["radio", "multi-select"]);
  expect(control("string", "error")).toBe("error");
  expect(control("string", "", { options: [..."abcdefghij"].map(option) })).toBe("dropdown");
  expect(control("string", "radio", { options: [..."abcdefghij"].map(option) })).toBe("radio");
});

test("what the server would refuse is said before", () => {
  const problem = (value: string, more: Partial<TemplateParameter>) =>
    checkValue(parameter(more), value)?.kind;
  expect(problem("", { required: true, default_value: "" })).toBe("missing");
  expect(problem("", { default_value: "" })).toBeUndefined();
  const number = { type: "number", validation_min: 1, validation_max: 5 };
  expect(
    ["x", "", "0", "6", "3", "1.5", "1e0", "Infinity", "0x3"].map((value) => problem(value, number)),
  ).toEqual(["number", "number", "range", "range", undefined, undefined, undefined, "number", "number"]);
  expect(["true", "yes"].map((value) => problem(value, { type: "bool" }))).toEqual([undefined, "bool"]);
  const options = [option("a"), option("b")];
  expect(["a", "c", ""].map((value) => problem(value, { options }))).toEqual([
    undefined,
    "option",
    "missing",
  ]);
  const many = { type: "list(string)", form_type: "multi-select", options };
  expect(['["a","b"]', '["c"]', "a", "[1]"].map((value) => problem(value, many))).toEqual([
    undefined,
    "option",
    "list",
    "list",
  ]);
  expect(problem("[]", { type: "list(string)", required: true })).toBe("missing");
  expect(problem('["a"]', { type: "list(string)", options: [option('["a"]')] })).toBeUndefined();
});

test("what is left empty is left to the template", () => {
  const parameters = [parameter({ name: "a", default_value: "" }), parameter({ name: "b", required: true })];
  expect(givenValues(parameters, { a: "", b: "" })).toEqual([{ name: "b", value: "" }]);
  expect(givenValues(parameters, { a: "x", b: "y" })).toEqual([
    { name: "a", value: "x" },
    { name: "b", value: "y" },
  ]);
});

test("a default preset is taken unless values were given, and a named one always", () => {
  const preset = (Name: string, Default = false) =>
    ({ ID: Name, Name, Default, Parameters: [{ Name: "region", Value: Name }] }) as Preset;
  const presets = [preset("Small"), preset("Large", true)];
  expect(startPreset(presets, {}, false)?.Name).toBe("Large");
  expect(startPreset(presets, {}, true)).toBeUndefined();
  expect(startPreset(presets, { "param.region": "eu" }, false)).toBeUndefined();
  expect(startPreset(presets, { preset: "small", "param.region": "eu" }, false)?.Name).toBe("Small");
  expect(startPreset(presets, { preset: "none" }, false)).toBeUndefined();
  expect(presetValues(presets[0], [parameter()])).toEqual({ region: "Small" });
  expect(presetValues(presets[0], [parameter({ name: "other" })])).toEqual({});
  expect(presetValues(undefined, [parameter()])).toEqual({});
});

test("lists are JSON, and what is no list is empty", () => {
  expect(readList(writeList(["a", "b"]))).toEqual(["a", "b"]);
  expect([readList("nonsense"), readList(""), readList('"a"')]).toEqual([[], [], []]);
});

test("a name is what the server takes for one", () => {
  expect(["a", "A-1", "a".repeat(32)].map(isName)).toEqual([true, true, true]);
  expect(["", "-a", "a-", "a--b", "a_b", "é", "a".repeat(33)].map(isName)).toEqual(Array(7).fill(false));
});

test("a name that is free is proposed, within 32 characters", () => {
  expect(freeName("local", [])).toBe("local");
  expect(freeName("local", ["Local", "local-2"])).toBe("local-3");
  expect(freeName("a".repeat(40), ["a".repeat(28)])).toBe(`${"a".repeat(28)}-2`);
});
