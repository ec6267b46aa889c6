/** What is wrong with a parameter's value, in words. */

import type { Catalogue } from "@/i18n/en";
import type { Problem } from "@/lib/parameters";

export function problemText(t: Catalogue, problem: Problem | undefined): string | undefined {
  if (!problem) return undefined;
  if (problem.kind === "range") return t.create.outOfRange(problem.min, problem.max);
  return t.create.problems[problem.kind];
}
