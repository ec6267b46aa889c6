/** What a version asks for: parameters of those who make workspaces, variables of those who manage it. */

import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { templateParametersQuery } from "@/api/queries";
import { variablesQuery } from "@/api/templateQueries";
import type { TemplateParameter, TemplateVariable, TemplateVersion } from "@/api/types";
import { useEditorI18n } from "@/i18n/editor";
import { isImporting } from "@/lib/versions";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Table } from "@/ui/Table";

function Parameters({ parameters }: { parameters: TemplateParameter[] }) {
  const { t } = useEditorI18n();
  return (
    <Table
      label={t.editor.version.panels.parameters}
      rows={parameters}
      rowKey={(each) => each.name}
      columns={[
        {
          title: t.editor.version.parameter,
          cell: (each) => (
            <>
              {each.display_name || each.name}{" "}
              {each.display_name && <code className="muted small">{each.name}</code>}
            </>
          ),
        },
        { title: t.editor.version.kind, cell: (each) => <code className="small">{each.type}</code> },
        {
          title: t.editor.version.default,
          cell: (each) =>
            each.required ? (
              <em>{t.editor.version.required}</em>
            ) : (
              <code className="small">{each.default_value || "–"}</code>
            ),
        },
        { title: t.editor.version.description, cell: (each) => each.description_plaintext || "–" },
      ]}
    />
  );
}

function Variables({ variables }: { variables: TemplateVariable[] }) {
  const { t } = useEditorI18n();
  return (
    <Table
      label={t.editor.version.variables}
      rows={variables}
      rowKey={(each) => each.name}
      columns={[
        { title: t.editor.version.variable, cell: (each) => <code className="small">{each.name}</code> },
        { title: t.editor.version.kind, cell: (each) => <code className="small">{each.type}</code> },
        {
          title: t.editor.version.default,
          cell: (each) =>
            each.required ? (
              <em>{t.editor.version.required}</em>
            ) : each.sensitive ? (
              <em>{t.editor.version.hidden}</em>
            ) : (
              <code className="small">{each.default_value || "–"}</code>
            ),
        },
        { title: t.editor.version.description, cell: (each) => each.description || "–" },
      ]}
    />
  );
}

export function VersionParameters({ version }: { version: TemplateVersion }) {
  const { t } = useEditorI18n();
  const importing = isImporting(version);
  const parameters = useQuery({ ...templateParametersQuery(version.id), enabled: !importing });
  const variables = useQuery({ ...variablesQuery(version.id), enabled: !importing });
  const error = parameters.error ?? variables.error;
  if (importing) return <Empty icon={SlidersHorizontal} title={t.editor.version.resourcesPending} />;
  if (error) {
    const retry = () => {
      void parameters.refetch();
      void variables.refetch();
    };
    return <ErrorNote error={error} onRetry={retry} />;
  }
  if (!parameters.data || !variables.data) return <Skeleton rows={4} />;
  if (parameters.data.length === 0 && variables.data.length === 0) {
    return (
      <Empty icon={SlidersHorizontal} title={t.editor.version.noParameters}>
        <p>{t.editor.version.noParametersText}</p>
      </Empty>
    );
  }
  return (
    <div className="version-table">
      {parameters.data.length > 0 && <Parameters parameters={parameters.data} />}
      {variables.data.length > 0 && (
        <>
          <h2>{t.editor.version.variables}</h2>
          <Variables variables={variables.data} />
        </>
      )}
    </div>
  );
}
