/** What workspaces of a version consist of, as its import found it. */

import { useQuery } from "@tanstack/react-query";
import { Boxes } from "lucide-react";
import { versionResourcesQuery } from "@/api/templateQueries";
import type { TemplateVersion, WorkspaceResource } from "@/api/types";
import { useEditorI18n } from "@/i18n/editor";
import { isImporting } from "@/lib/versions";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Table } from "@/ui/Table";

interface Row {
  resource: WorkspaceResource;
  exists: "start" | "stop" | "both";
}

/** A resource that is there whether the workspace runs or not was found twice. */
function rowsOf(resources: readonly WorkspaceResource[]): Row[] {
  const rows = new Map<string, Row>();
  for (const resource of resources) {
    if (resource.hide) continue;
    const key = `${resource.type}.${resource.name}`;
    const found = rows.get(key);
    const transition = resource.workspace_transition === "stop" ? "stop" : "start";
    if (!found) rows.set(key, { resource, exists: transition });
    else {
      const more = (resource.agents?.length ?? 0) > (found.resource.agents?.length ?? 0);
      rows.set(key, {
        resource: more ? resource : found.resource,
        exists: found.exists === transition ? transition : "both",
      });
    }
  }
  return [...rows.values()];
}

export function VersionResources({ version }: { version: TemplateVersion }) {
  const { t } = useEditorI18n();
  const importing = isImporting(version);
  const { data, error, refetch } = useQuery({
    ...versionResourcesQuery(version.id),
    enabled: !importing,
  });
  if (importing) return <Empty icon={Boxes} title={t.editor.version.resourcesPending} />;
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={4} />;
  const rows = rowsOf(data);
  if (rows.length === 0) return <Empty icon={Boxes} title={t.editor.version.noResources} />;
  return (
    <div className="version-table">
      <Table
        label={t.editor.version.panels.resources}
        rows={rows}
        rowKey={({ resource }) => resource.id}
        columns={[
          { title: t.editor.version.resource, cell: ({ resource }) => resource.name },
          {
            title: t.editor.version.type,
            cell: ({ resource }) => <code className="small">{resource.type}</code>,
          },
          {
            title: t.editor.version.agents,
            cell: ({ resource }) => resource.agents?.map((agent) => agent.name).join(", ") || "–",
          },
          { title: t.editor.version.exists, cell: ({ exists }) => t.editor.version.transitions[exists] },
        ]}
      />
    </div>
  );
}
