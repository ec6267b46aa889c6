/** How far a start has come. */

import { Check, LoaderCircle } from "lucide-react";
import { useT } from "@/i18n";
import type { Step } from "@/lib/steps";

const STEPS: Step[] = ["queued", "build", "agent", "scripts", "ready"];

export function Steps({ now }: { now: Step }) {
  const t = useT();
  const at = STEPS.indexOf(now);
  return (
    <ol className="steps" aria-label={t.workspace.stepsLabel}>
      {STEPS.map((step, index) => (
        <li
          key={step}
          aria-current={index === at ? "step" : undefined}
          className={index < at ? "step-done" : undefined}
        >
          {index < at && <Check size={12} aria-hidden />}
          {index === at && <LoaderCircle size={12} aria-hidden className="turns" />}
          {t.workspace.steps[step]}
        </li>
      ))}
    </ol>
  );
}
