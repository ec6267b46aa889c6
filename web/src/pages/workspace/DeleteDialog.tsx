/** Asks for the name before a workspace is destroyed, and says what is lost. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { builds } from "@/api/endpoints";
import { putWorkspace } from "@/api/queries";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import type { Permissions } from "@/lib/can";
import { DEFAULT_FILTER } from "@/routes/workspaces";
import { Confirm } from "@/ui/Dialog";
import { Check } from "@/ui/Field";

interface Props {
  workspace: Workspace;
  may: Permissions;
  mine: boolean;
  onClose: () => void;
}

export function DeleteDialog({ workspace, may, mine, onClose }: Props) {
  const t = useT();
  const words = t.workspacePage.deletion;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [orphan, setOrphan] = useState(false);
  const { resources } = workspace.latest_build;
  const remove = useMutation({
    mutationFn: () => builds.create(workspace.id, { transition: "delete", ...(orphan ? { orphan } : {}) }),
    onSuccess: async (latest_build) => {
      // The list shows it going; what the build has made is known no less than before.
      putWorkspace(client, { ...workspace, latest_build });
      void client.invalidateQueries({ queryKey: ["workspaces"] });
      const filter = mine ? DEFAULT_FILTER : `owner:${workspace.owner_name}`;
      await navigate({ to: "/workspaces", search: filter === DEFAULT_FILTER ? {} : { filter } });
    },
  });
  return (
    <Confirm
      title={words.title(workspace.name)}
      lead={
        resources.length > 0 ? (
          <>
            <p>{orphan ? words.orphanLead : words.lead}</p>
            <ul className="lost">
              {resources.map((resource) => (
                <li key={resource.id}>
                  <strong>{resource.name}</strong> <code className="muted">{resource.type}</code>
                </li>
              ))}
            </ul>
          </>
        ) : (
          <p>{words.nothing}</p>
        )
      }
      action={orphan ? words.orphanAction : words.action}
      name={workspace.name}
      danger
      open
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {may.manage && (
        <Check label={words.orphan} hint={words.orphanHint} checked={orphan} onChange={setOrphan} />
      )}
    </Confirm>
  );
}
