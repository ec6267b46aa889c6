/** Values of a template's parameters, as the API has them: texts, whatever the type. */

import type { TemplateParameter, WorkspaceBuildParameter } from "@/api/types";

export type Values = Record<string, string>;

/** Where a form begins: the address, else what the person used last, else the template's default. */
export function initialValues(
  parameters: readonly TemplateParameter[],
  used: readonly WorkspaceBuildParameter[],
  search: Record<string, string>,
): Values {
  return Object.fromEntries(
    parameters.map((parameter) => {
      const before = parameter.ephemeral
        ? undefined
        : used.find((each) => each.name === parameter.name)?.value;
      const value = search[`param.${parameter.name}`] ?? before ?? parameter.default_value;
      return [parameter.name, allowed(parameter, value) ? value : parameter.default_value];
    }),
  );
}

/** A value that is not among the options any more is no start. */
function allowed(parameter: TemplateParameter, value: string): boolean {
  if (parameter.options.length === 0 || parameter.type === "list(string)") return true;
  return parameter.options.some((option) => option.value === value);
}

/** A list is written as JSON. */
export function readList(value: string): string[] {
  try {
    const list: unknown = JSON.parse(value || "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}

export const writeList = (list: readonly string[]): string => JSON.stringify(list);

/** The first of `base`, `base-2`, … that is not taken. */
export function freeName(base: string, taken: readonly string[]): string {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  const short = base.slice(0, 28).replace(/-+$/, "");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? short : `${short}-${number}`;
    if (!used.has(name.toLowerCase())) return name;
  }
}
