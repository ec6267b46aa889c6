/** The server's settings as a list that can be searched, in the groups that the server gives them. */

import type { DeploymentOption } from "@/api/types";

/** A part of the settings. Its name is empty where the server gives none. */
export interface OptionGroup {
  name: string;
  options: DeploymentOption[];
}

export const isSecret = (option: DeploymentOption) => option.annotations?.secret === "true";

/** Whether somebody has set it. */
export const isChanged = (option: DeploymentOption) =>
  option.value_source !== undefined && option.value_source !== "" && option.value_source !== "default";

/** The value in one text; an empty one when there is none. */
export function optionText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(optionText).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function matches(option: DeploymentOption, words: string[]): boolean {
  const text = [
    option.name,
    option.description,
    option.flag,
    option.env,
    option.yaml,
    option.group?.name,
    isSecret(option) ? "" : optionText(option.value),
  ]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What is to be shown. Settings that are not for everybody are left out, unless somebody has set them. */
export function groupOptions(
  options: readonly DeploymentOption[],
  search: string,
  changedOnly: boolean,
): OptionGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, DeploymentOption[]>();
  for (const option of options) {
    if ((option.hidden || changedOnly) && !isChanged(option)) continue;
    if (!matches(option, words)) continue;
    const name = option.group?.name ?? "";
    groups.set(name, [...(groups.get(name) ?? []), option]);
  }
  return [...groups]
    .map(([name, list]) => ({ name, options: list }))
    .sort((a, b) => (a.name === "" ? -1 : b.name === "" ? 1 : a.name.localeCompare(b.name)));
}
