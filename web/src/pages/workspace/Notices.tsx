/** What one should know before anything else: a failure with its reason, a newer version. */

import { CircleX, RefreshCw } from "lucide-react";
import { useAction } from "@/api/actions";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { canUpdate, type Permissions } from "@/lib/can";
import { Button } from "@/ui/Button";
import { Note } from "@/ui/Notes";

export function Notices({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const update = useAction(workspace);
  const { latest_build: build } = workspace;
  const can = canUpdate(workspace, may);
  return (
    <>
      {build.status === "failed" && (
        <Note icon={CircleX} tone="failed">
          <p className="note-title">{t.workspace.failedTitle}</p>
          {build.job.error && <p className="mono">{build.job.error}</p>}
          <p>{t.workspace.failedNext}</p>
        </Note>
      )}
      {workspace.outdated && (
        <Note icon={RefreshCw} tone="outdated">
          <p>{t.workspace.outdatedText}</p>
          <Button
            why={can === true ? undefined : t.why[can]}
            busy={update.isPending}
            onClick={() => update.mutate("update")}
          >
            {t.actions.update}
          </Button>
        </Note>
      )}
    </>
  );
}
