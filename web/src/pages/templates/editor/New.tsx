/** A new template: where it comes from, what it is called, and its import; then it is there. */

import { useQuery } from "@tanstack/react-query";
import { CircleCheck, FileQuestion, FolderCode, LockKeyhole, Pencil, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { sitePermissionsQuery, templateVersionQuery } from "@/api/queries";
import type { TemplateVersion } from "@/api/types";
import { examplesQuery, templateByIdQuery } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { emptyTemplate } from "@/lib/emptyTemplate";
import { useTitle } from "@/lib/title";
import { templateName } from "@/lib/upload";
import { templateOf } from "@/lib/versions";
import { newTemplateRoute } from "@/routes/editor";
import { ButtonLink } from "@/ui/Button";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Chooser } from "./Chooser";
import type { Upload } from "./DropZone";
import { NewForm, type Start } from "./NewForm";
import "./editor.css";

/** The template is there: what one does next. */
function Ready({ template, version }: { template: string; version: TemplateVersion }) {
  const { t } = useEditorI18n();
  const { data, error, refetch } = useQuery(templateByIdQuery(template));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={3} />;
  const params = { template: data.name, version: version.name };
  return (
    <Empty icon={CircleCheck} title={t.editor.fresh.ready(data.display_name || data.name)}>
      <p>{t.editor.fresh.readyText}</p>
      <div className="ready-actions">
        <ButtonLink
          look="primary"
          icon={SquareTerminal}
          text={t.editor.fresh.newWorkspace}
          to="/templates/$template/workspace"
          params={{ template: data.name }}
          search={{}}
        />
        <ButtonLink
          icon={Pencil}
          text={t.templates.editFiles}
          to="/templates/$template/versions/$version/edit"
          params={params}
        />
        <ButtonLink
          icon={FolderCode}
          text={t.editor.fresh.open}
          to="/templates/$template"
          params={{ template: data.name }}
        />
      </div>
    </Empty>
  );
}

/** What the form begins with, by the address and what was read into this page. */
function useStart(upload: Upload | undefined): Start | "choose" | "lost" | "loading" {
  const { t } = useEditorI18n();
  const { exampleId, from } = newTemplateRoute.useSearch();
  const examples = useQuery({ ...examplesQuery, enabled: exampleId !== undefined });
  if (from === "empty") {
    return {
      source: { kind: "files", files: emptyTemplate() },
      title: t.editor.fresh.emptyName,
      name: "",
      displayName: "",
      description: "",
    };
  }
  if (from === "upload") {
    if (!upload) return "lost";
    return {
      source: { kind: "files", files: upload.files },
      title: upload.name,
      name: templateName(upload.name),
      displayName: "",
      description: "",
    };
  }
  if (exampleId === undefined) return "choose";
  if (!examples.data) return "loading";
  const example = examples.data.find((each) => each.id === exampleId);
  if (!example) return "choose";
  return {
    source: { kind: "example", example },
    title: example.name,
    name: example.id,
    displayName: example.name,
    description: example.description,
  };
}

function Body() {
  const { t } = useEditorI18n();
  const search = newTemplateRoute.useSearch();
  const navigate = newTemplateRoute.useNavigate();
  const [upload, setUpload] = useState<Upload>();
  const version = useQuery({
    ...templateVersionQuery(search.version ?? ""),
    enabled: search.version !== undefined,
  });
  const start = useStart(upload);
  const read = (next: Upload) => {
    setUpload(next);
    void navigate({ search: { from: "upload" } });
  };
  if (search.version !== undefined) {
    if (version.error) return <ErrorNote error={version.error} onRetry={() => void version.refetch()} />;
    if (!version.data) return <Skeleton rows={5} />;
    const template = templateOf(version.data);
    if (template) return <Ready template={template} version={version.data} />;
  }
  if (start === "loading") return <Skeleton rows={5} />;
  if (start === "choose" && !version.data) return <Chooser onRead={read} />;
  if (start === "lost" && !version.data) {
    return (
      <>
        <Empty icon={FileQuestion} title={t.editor.fresh.lost}>
          <p>{t.editor.fresh.lostNext}</p>
        </Empty>
        <Chooser onRead={read} />
      </>
    );
  }
  return (
    <NewForm
      key={`${search.exampleId}:${search.from}:${upload?.name}`}
      start={typeof start === "string" ? undefined : start}
      version={version.data}
    />
  );
}

export function NewTemplate() {
  const { t } = useEditorI18n();
  const may = useQuery(sitePermissionsQuery);
  useTitle(t.templates.create);
  return (
    <main className="page page-narrow" id="content">
      <h1>{t.templates.create}</h1>
      <p className="muted">{t.editor.fresh.lead}</p>
      {may.error ? (
        <ErrorNote error={may.error} onRetry={() => void may.refetch()} />
      ) : !may.data ? (
        <Skeleton rows={5} />
      ) : may.data.createTemplates ? (
        <Body />
      ) : (
        <Empty icon={LockKeyhole} title={t.editor.fresh.notAllowed}>
          <p>{t.editor.fresh.notAllowedNext}</p>
        </Empty>
      )}
    </main>
  );
}
