/** How jobs are shown, wherever they are: their state and their tags. */

import type { ProvisionerJobStatus } from "@/api/types";
import { useT } from "@/i18n";
import { useAdminI18n } from "@/i18n/admin";
import type { Tone } from "@/lib/status";
import { Badge } from "@/ui/Status";

const TONES: Record<ProvisionerJobStatus, Tone> = {
  pending: "waiting",
  running: "busy",
  succeeded: "running",
  canceling: "busy",
  canceled: "stopped",
  failed: "failed",
  unknown: "stopped",
};

export function JobState({ status }: { status: ProvisionerJobStatus }) {
  const t = useT();
  return <Badge tone={TONES[status]}>{t.job[status]}</Badge>;
}

/** Tags without those that are empty, which every job and provisioner has. */
export function Tags({ tags }: { tags: Record<string, string> }) {
  const { t } = useAdminI18n();
  const shown = Object.entries(tags).filter(([, value]) => value !== "");
  if (shown.length === 0) return <span className="muted">{t.admin.tags.none}</span>;
  return (
    <span className="badges">
      {shown.map(([key, value]) => (
        <span key={key} className="admin-tag">
          {key}={value}
        </span>
      ))}
    </span>
  );
}
