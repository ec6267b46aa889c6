/** Values of a template's parameters, as the API has them: texts, whatever the type. */

import type { Preset, TemplateParameter, WorkspaceBuildParameter } from "@/api/types";

export type Values = Record<string, string>;

/** Where a value of the form comes from, when it is not the template's default and not typed here. */
export type Origin = "link" | "copy" | "used";

export interface Start {
  values: Values;
  origins: Record<string, Origin>;
}

interface Sources {
  /** The address. */
  search: Record<string, string>;
  /** The workspace that is duplicated. */
  copied?: readonly WorkspaceBuildParameter[];
  /** What the person used last. */
  used: readonly WorkspaceBuildParameter[];
}

/** Where a form begins: the address, else the workspace to duplicate, else what was used last, else the default. */
export function startValues(
  parameters: readonly TemplateParameter[],
  { search, copied = [], used }: Sources,
): Start {
  const start: Start = { values: {}, origins: {} };
  for (const parameter of parameters) {
    const { name } = parameter;
    const of = (list: readonly WorkspaceBuildParameter[]) =>
      // What holds for one build only is not taken over into another.
      parameter.ephemeral ? undefined : list.find((each) => each.name === name)?.value;
    const found = (
      [
        ["link", search[`param.${name}`]],
        ["copy", of(copied)],
        ["used", of(used)],
      ] as const
    ).find(([, value]) => value !== undefined && allowed(parameter, value));
    start.values[name] = found?.[1] ?? (parameter.default_value || blank(parameter));
    if (found && (found[0] !== "used" || found[1] !== parameter.default_value)) {
      start.origins[name] = found[0];
    }
  }
  return start;
}

/** Controls that always have a value begin with one. */
function blank(parameter: TemplateParameter): string {
  const control = controlOf(parameter);
  if (control === "checkbox" || control === "switch") return "false";
  return control === "slider" ? String(parameter.validation_min) : "";
}

/** A value that is not among the options any more is no start. */
function allowed(parameter: TemplateParameter, value: string): boolean {
  if (parameter.options.length === 0) return true;
  const options = parameter.options.map((option) => option.value);
  if (controlOf(parameter) === "multi-select") return readList(value).every((each) => options.includes(each));
  return options.includes(value);
}

/** The control that asks for a parameter, as the template's provider names them. */
export type ControlKind =
  | "radio"
  | "dropdown"
  | "input"
  | "textarea"
  | "slider"
  | "checkbox"
  | "switch"
  | "multi-select"
  | "tag-select"
  | "error";

/** Those that one type of parameter can be asked for with; the first is what it gets without a wish. */
const CONTROLS: Record<string, [withOptions: ControlKind[], without: ControlKind[]]> = {
  string: [
    ["radio", "dropdown"],
    ["input", "textarea"],
  ],
  number: [
    ["radio", "dropdown"],
    ["input", "slider"],
  ],
  bool: [
    ["radio", "dropdown"],
    ["checkbox", "switch"],
  ],
  "list(string)": [["radio", "multi-select"], ["tag-select"]],
};

/** More choices than these do not stand side by side, unless the template asks for it. */
const FEW = 8;

export function controlOf(parameter: TemplateParameter): ControlKind {
  if (parameter.form_type === "error") return "error";
  const kinds = CONTROLS[parameter.type]?.[parameter.options.length > 0 ? 0 : 1] ?? ["input"];
  const wanted = kinds.find((kind) => kind === parameter.form_type);
  // A slider needs two ends.
  const ends = parameter.validation_min !== undefined && parameter.validation_max !== undefined;
  if (wanted === "slider" && !ends) return "input";
  if (wanted) return wanted;
  const [first = "input"] = kinds;
  return first === "radio" && parameter.options.length > FEW ? "dropdown" : first;
}

/** Why a value will be refused: the rules of `crates/model/src/parameters.rs`. */
export type Problem =
  | { kind: "missing" | "number" | "bool" | "list" | "option" }
  | { kind: "range"; min: number | undefined; max: number | undefined };

export function checkValue(parameter: TemplateParameter, value: string): Problem | undefined {
  const { type, options, validation_min: min, validation_max: max } = parameter;
  const control = controlOf(parameter);
  if (value === "") {
    if (parameter.required) return { kind: "missing" };
    // The template's own default need not keep to its rules.
    if (parameter.default_value === "") return undefined;
  }
  if (type === "number") {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)) return { kind: "number" };
    const number = Number(value);
    if ((min !== undefined && number < min) || (max !== undefined && number > max)) {
      return { kind: "range", min, max };
    }
  }
  if (type === "bool" && value !== "true" && value !== "false") return { kind: "bool" };
  if (type === "list(string)" && control !== "radio") {
    const list = parseList(value);
    if (!list) return { kind: "list" };
    if (list.length === 0 && parameter.required) return { kind: "missing" };
  }
  if (options.length > 0 && !allowed(parameter, value)) {
    return value === "" ? { kind: "missing" } : { kind: "option" };
  }
  return undefined;
}

/** What is sent: a value that was left empty where nothing is needed is left to the template. */
export function givenValues(
  parameters: readonly TemplateParameter[],
  values: Values,
): WorkspaceBuildParameter[] {
  return parameters.flatMap((parameter) => {
    const value = values[parameter.name] ?? "";
    const left = value === "" && !parameter.required && parameter.default_value === "";
    return left ? [] : [{ name: parameter.name, value }];
  });
}

/** The values that a preset sets, of those that there are to be set. */
export function presetValues(preset: Preset | undefined, parameters: readonly TemplateParameter[]): Values {
  const known = new Set(parameters.map((parameter) => parameter.name));
  return Object.fromEntries(
    (preset?.Parameters ?? []).filter((each) => known.has(each.Name)).map((each) => [each.Name, each.Value]),
  );
}

/**
 * The preset that a form begins with: the one that the address names, else the template's default one, unless the
 * address or a workspace says what the values are, which a preset would overrule.
 */
export function startPreset(
  presets: readonly Preset[],
  search: Record<string, string>,
  copied: boolean,
): Preset | undefined {
  const named = search.preset?.toLowerCase();
  if (named) return presets.find((preset) => preset.Name.toLowerCase() === named);
  const told = copied || Object.keys(search).some((key) => key.startsWith("param."));
  return told ? undefined : presets.find((preset) => preset.Default);
}

function parseList(value: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(value || "[]");
    return Array.isArray(list) && list.every((each) => typeof each === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/** A list is written as JSON; what is none is empty. */
export const readList = (value: string): string[] => parseList(value) ?? [];

export const writeList = (list: readonly string[]): string => JSON.stringify(list);

/** A name as the server takes it (`names::check_name`). */
export const isName = (name: string) => name.length <= 32 && /^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$/.test(name);

/** The first of `base`, `base-2`, … that is not taken. */
export function freeName(base: string, taken: readonly string[]): string {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  const short = base.slice(0, 28).replace(/-+$/, "");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? short : `${short}-${number}`;
    if (!used.has(name.toLowerCase())) return name;
  }
}
