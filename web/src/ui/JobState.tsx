/** What became of a job, as icon and word. */

import { Ban, CircleCheck, CircleDashed, CircleX, Clock, LoaderCircle, type LucideIcon } from "lucide-react";
import type { TemplateVersion } from "@/api/types";
import { useT } from "@/i18n";
import type { Tone } from "@/lib/status";
import "./status.css";

type JobStatus = TemplateVersion["job"]["status"];

const LOOKS: Record<JobStatus, { tone: Tone; icon: LucideIcon; turns?: boolean }> = {
  pending: { tone: "waiting", icon: Clock },
  running: { tone: "busy", icon: LoaderCircle, turns: true },
  succeeded: { tone: "running", icon: CircleCheck },
  canceling: { tone: "busy", icon: LoaderCircle, turns: true },
  canceled: { tone: "stopped", icon: Ban },
  failed: { tone: "failed", icon: CircleX },
  unknown: { tone: "stopped", icon: CircleDashed },
};

export function JobState({ status }: { status: JobStatus }) {
  const t = useT();
  const { tone, icon: Icon, turns } = LOOKS[status];
  return (
    <span className={`state tone-${tone}`} data-job={status}>
      <Icon size={16} aria-hidden className={turns ? "turns" : undefined} />
      {t.job[status]}
    </span>
  );
}
