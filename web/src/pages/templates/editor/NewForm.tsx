/** Names the new template, has its files imported, and makes the template of what was imported. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { sources as api } from "@/api/endpoints";
import { ApiError } from "@/api/errors";
import { templateVersionQuery } from "@/api/queries";
import type { TemplateExample, TemplateVersion, VariableValue } from "@/api/types";
import { putVersion, templateChanged } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { bytes } from "@/lib/bytes";
import { fieldError } from "@/lib/fieldError";
import { type Sources, sizeOf } from "@/lib/sources";
import { hasImported, isImporting, needsValues } from "@/lib/versions";
import { newTemplateRoute } from "@/routes/editor";
import { Button, ButtonLink } from "@/ui/Button";
import { Field } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { JobState } from "../JobState";
import { ExampleIcon } from "./ExampleIcon";
import { ImportLog } from "./ImportLog";
import { tarOf } from "./useBuild";
import { VariablesForm } from "./VariablesForm";

/** The organization that templates without another one belong to. */
const ORGANIZATION = "default";
/** More files than this are only counted. */
const MOST_FILES = 12;

export interface Start {
  source: { kind: "example"; example: TemplateExample } | { kind: "files"; files: Sources };
  title: string;
  name: string;
  displayName: string;
  description: string;
}

/** What it is made from. */
function Origin({ start }: { start: Start }) {
  const { t, language } = useEditorI18n();
  const { source } = start;
  return (
    <aside className="fresh-side">
      <h2>{t.editor.fresh.from}</h2>
      {source.kind === "example" ? (
        <p className="fresh-origin">
          <ExampleIcon icon={source.example.icon} />
          <strong>{source.example.name}</strong>
        </p>
      ) : (
        <>
          <p className="fresh-origin">
            <strong>{start.title}</strong>
          </p>
          <p className="muted small">
            {t.editor.files(source.files.size)}, {bytes(language, sizeOf(source.files))}
          </p>
          <ul className="fresh-files">
            {[...source.files.keys()].slice(0, MOST_FILES).map((path) => (
              <li key={path} className="mono cut" title={path}>
                {path}
              </li>
            ))}
            {source.files.size > MOST_FILES && <li className="muted">…</li>}
          </ul>
        </>
      )}
      <Link to="/templates/new" search={{}} className="small">
        {t.editor.fresh.other}
      </Link>
    </aside>
  );
}

interface Props {
  /** Nothing when the files were lost with a reload; what was imported of them is still there. */
  start: Start | undefined;
  /** What was imported for this template so far. */
  version: TemplateVersion | undefined;
}

export function NewForm({ start, version }: Props) {
  const { t } = useEditorI18n();
  const client = useQueryClient();
  const navigate = newTemplateRoute.useNavigate();
  const { line } = newTemplateRoute.useSearch();
  const [name, setName] = useState(start?.name ?? "");
  const [displayName, setDisplayName] = useState(start?.displayName ?? "");
  const [description, setDescription] = useState(start?.description ?? "");
  /** The template is to be made as soon as its version is there. */
  const [wanted, setWanted] = useState(false);

  const create = useMutation({
    mutationFn: (from: TemplateVersion) =>
      api.createTemplate(ORGANIZATION, {
        name: name.trim(),
        display_name: displayName.trim(),
        description: description.trim(),
        icon: start?.source.kind === "example" ? start.source.example.icon : "",
        template_version_id: from.id,
      }),
    onSuccess: async (_template, from) => {
      templateChanged(client);
      putVersion(client, await client.fetchQuery({ ...templateVersionQuery(from.id), staleTime: 0 }));
    },
    onSettled: () => setWanted(false),
  });

  /** What was kept already is not sent again. */
  const files = async () => {
    if (version) return { file_id: version.job.file_id };
    if (start?.source.kind === "files") return { file_id: await api.upload(tarOf(start.source.files)) };
    return { example_id: start?.source.example.id ?? "" };
  };
  const importing = useMutation({
    mutationFn: async (values: VariableValue[]) =>
      api.import(ORGANIZATION, { ...(await files()), user_variable_values: values }),
    onSuccess: (next) => {
      putVersion(client, next);
      void navigate({ search: ({ line: _line, ...old }) => ({ ...old, version: next.id }), replace: true });
    },
    onError: () => setWanted(false),
  });

  const imported = version !== undefined && hasImported(version);
  const running = importing.isPending || (version !== undefined && isImporting(version));
  const { mutate: make, isPending: making } = create;
  useEffect(() => {
    if (wanted && imported && version && !making) make(version);
  }, [wanted, imported, version, making, make]);

  // On a small page the log would be out of sight.
  const log = useRef<HTMLElement>(null);
  const shown = version?.id;
  useEffect(() => {
    if (shown !== undefined) log.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);

  const begin = (values: VariableValue[]) => {
    if (running || making) return;
    create.reset();
    setWanted(true);
    if (!imported) importing.mutate(values);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin([]);
  };
  const error = create.error instanceof ApiError ? create.error : undefined;
  const fields = ["name", "display_name", "description"];
  const elsewhere = create.error && !fields.some((field) => fieldError(t, error, field));
  const failed = version !== undefined && !running && !imported;
  return (
    <div className="fresh">
      <form className="form" onSubmit={submit}>
        <Field
          label={t.editor.fresh.name}
          hint={t.editor.fresh.nameHint}
          error={fieldError(t, error, "name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoFocus
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          required
          maxLength={32}
        />
        <Field
          label={t.editor.fresh.displayName}
          hint={t.editor.fresh.displayNameHint}
          error={fieldError(t, error, "display_name")}
          optional
          value={displayName}
          onChange={(event) => setDisplayName(event.target.value)}
          maxLength={64}
        />
        <Field
          label={t.editor.fresh.description}
          hint={t.editor.fresh.descriptionHint}
          error={fieldError(t, error, "description")}
          optional
          value={description}
          onChange={(event) => setDescription(event.target.value)}
          maxLength={127}
        />
        {elsewhere ? <ErrorNote error={create.error} /> : null}
        {importing.error && <ErrorNote error={importing.error} />}
        {!(version && needsValues(version)) && (
          <div className="form-actions">
            <Button type="submit" look="primary" busy={running || making || (wanted && imported)}>
              {running
                ? t.editor.fresh.importing
                : making
                  ? t.editor.fresh.creating
                  : failed
                    ? t.editor.fresh.again
                    : t.editor.fresh.submit}
            </Button>
            {failed && <ButtonLink to="/templates/new" search={{}} text={t.editor.fresh.other} />}
            {version && <JobState status={version.job.status} />}
          </div>
        )}
      </form>
      {start && <Origin start={start} />}
      {version && (
        <section className="fresh-log" ref={log}>
          {needsValues(version) && (
            <VariablesForm key={version.id} version={version.id} busy={running} onSubmit={begin} />
          )}
          <ImportLog
            key={version.id}
            version={version}
            line={line}
            next={t.editor.import.nextUpload}
            onLine={(next) =>
              void navigate({ search: (old) => ({ ...old, line: next }), replace: true, resetScroll: false })
            }
          />
        </section>
      )}
    </div>
  );
}
