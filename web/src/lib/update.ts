/** What an update to another version asks of the person: the values that the server would miss or refuse. */

import type { TemplateParameter, TemplateVersion, WorkspaceBuildParameter } from "@/api/types";
import { readList } from "./parameters";

export interface Asked {
  parameter: TemplateParameter;
  /** A key of the catalogue's `workspacePage.asked`. */
  because: "new" | "refused";
  value: string;
}

/** The rules of `Parameter::check` in `crates/model/src/parameters.rs` that a kept value can break. */
function fits(parameter: TemplateParameter, value: string): boolean {
  const options = new Set(parameter.options.map((option) => option.value));
  if (parameter.type === "list(string)") {
    return options.size === 0 || readList(value).every((each) => options.has(each));
  }
  if (options.size > 0 && !options.has(value)) return false;
  if (parameter.type === "bool") return value === "true" || value === "false";
  if (parameter.type !== "number") return true;
  const number = Number(value);
  const { validation_min: min, validation_max: max } = parameter;
  return (
    value.trim() !== "" && Number.isFinite(number) && number >= (min ?? number) && number <= (max ?? number)
  );
}

/** The parameters of the version to come that need a look, with the values to begin with. */
export function askedOf(
  next: readonly TemplateParameter[],
  kept: readonly WorkspaceBuildParameter[],
): Asked[] {
  return next.flatMap((parameter): Asked[] => {
    const value = parameter.ephemeral ? undefined : kept.find((each) => each.name === parameter.name)?.value;
    if (value === undefined) {
      const silent = parameter.ephemeral && !parameter.required;
      return silent ? [] : [{ parameter, because: "new", value: parameter.default_value }];
    }
    return fits(parameter, value) ? [] : [{ parameter, because: "refused", value: parameter.default_value }];
  });
}

/** Whether a start with the version to come would be refused as long as nobody has given it values. */
export function lacksValues(
  next: readonly TemplateParameter[],
  kept: readonly WorkspaceBuildParameter[],
): boolean {
  return askedOf(next, kept).some(({ parameter, because }) => because === "refused" || parameter.required);
}

/** Versions that came after the one that is built, up to the active one, newest first. */
export function versionsBetween(
  versions: readonly TemplateVersion[],
  built: string,
  active: string,
): TemplateVersion[] {
  const list = [...versions].sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const from = list.findIndex((version) => version.id === active);
  if (from < 0) return [];
  const to = list.findIndex((version) => version.id === built);
  const between = to < 0 ? list.slice(from) : list.slice(from, Math.max(to, from + 1));
  return between.filter((version) => version.id === active || version.job.status === "succeeded");
}
