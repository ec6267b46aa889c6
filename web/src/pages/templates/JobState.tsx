/** How an import stands, as icon and word. */

import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, type LucideIcon } from "lucide-react";
import type { TemplateVersion } from "@/api/types";
import { useT } from "@/i18n";
import type { Tone } from "@/lib/status";
import "@/ui/status.css";

type JobStatus = TemplateVersion["job"]["status"];

const LOOKS: Record<JobStatus, [Tone, LucideIcon]> = {
  pending: ["waiting", Clock],
  running: ["busy", LoaderCircle],
  succeeded: ["running", CircleCheck],
  canceling: ["busy", LoaderCircle],
  canceled: ["stopped", Ban],
  failed: ["failed", CircleX],
  unknown: ["stopped", CircleDashed],
};

export function JobState({ status }: { status: JobStatus }) {
  const t = useT();
  const [tone, Icon] = LOOKS[status] ?? LOOKS.unknown;
  return (
    <span className={`state tone-${tone}`} data-state={status}>
      <Icon size={16} aria-hidden className={Icon === LoaderCircle ? "turns" : undefined} />
      {t.job[status] ?? status}
    </span>
  );
}
