/** The editor: files are changed here, built into a version, and published. */

import { useQuery } from "@tanstack/react-query";
import { Link, useBlocker, useNavigate, useRouterState } from "@tanstack/react-router";
import { FileQuestion, Hammer, Rocket, ScrollText, Undo2 } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Template, TemplateVersion, VariableValue } from "@/api/types";
import { filesQuery } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { changedFiles } from "@/lib/diff";
import type { Problem } from "@/lib/problems";
import { firstFile, hasTerraform, type Source, type Sources, same, sorted } from "@/lib/sources";
import { useTitle } from "@/lib/title";
import { canActivate, hasImported, isImporting, needsValues } from "@/lib/versions";
import { editVersionRoute } from "@/routes/editor";
import { Button } from "@/ui/Button";
import type { Place } from "@/ui/code/CodeEditor";
import { Confirm } from "@/ui/Dialog";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { NotFound } from "../../Fallbacks";
import { JobState } from "../JobState";
import { Crumbs } from "./Crumbs";
import { EditFiles } from "./EditFiles";
import { FilesHidden, NoText } from "./FilesPanel";
import { ImportLog } from "./ImportLog";
import { PublishDialog } from "./PublishDialog";
import { useBuild } from "./useBuild";
import { useNamedVersion } from "./useNamedVersion";
import { VariablesForm } from "./VariablesForm";
import "./editor.css";

const CodeEditor = lazy(() => import("@/ui/code/CodeEditor"));

/** Larger texts make the editor slow. */
const MOST_TEXT = 2 << 20;
const NO_PROBLEMS: readonly Problem[] = [];

/** The place that the address names, a new one for each visit. */
function usePlace(): Place | undefined {
  const { file, line } = editVersionRoute.useSearch();
  const visit = useRouterState({ select: (state) => state.location.state.__TSR_key });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same address is gone to again
  return useMemo(
    () => (file !== undefined && line !== undefined ? { path: file, line } : undefined),
    [file, line, visit],
  );
}

/** Asks before changes are lost. */
function LeaveGuard({ changes }: { changes: number }) {
  const { t } = useEditorI18n();
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => changes > 0 && next.pathname !== current.pathname,
    enableBeforeUnload: () => changes > 0,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Confirm
      open
      danger
      title={t.editor.edit.leaveTitle}
      lead={t.editor.edit.leaveLead(changes)}
      action={t.editor.edit.leave}
      busy={false}
      error={undefined}
      onConfirm={blocker.proceed}
      onClose={blocker.reset}
    />
  );
}

interface FileProps {
  source: Source | undefined;
  base: Source | undefined;
  problems: readonly Problem[];
  onText: (path: string, text: string) => void;
  onRevert: (path: string) => void;
}

function EditedFile({ source, base, problems, onText, onRevert }: FileProps) {
  const { t } = useEditorI18n();
  const place = usePlace();
  const hint = useId();
  const lines = useMemo(
    () =>
      problems.flatMap((problem) =>
        problem.file === source?.path && problem.line !== undefined
          ? [{ line: problem.line, message: problem.message }]
          : [],
      ),
    [problems, source?.path],
  );
  if (!source) return <Empty icon={FileQuestion} title={t.editor.edit.nothingOpen} />;
  const { text } = source;
  return (
    <div className="file">
      <div className="file-head">
        <h2 className="cut mono">{source.path}</h2>
        {base && !same(base, source) && (
          <span className="file-actions">
            <Button
              look="quiet"
              icon={Undo2}
              label={t.editor.edit.revert}
              onClick={() => onRevert(source.path)}
            />
          </span>
        )}
      </div>
      {text === undefined ? (
        <NoText source={source} />
      ) : text.length > MOST_TEXT ? (
        <Empty icon={FileQuestion} title={t.editor.edit.tooLong} />
      ) : (
        <>
          <Suspense fallback={<Skeleton rows={10} />}>
            <CodeEditor
              path={source.path}
              text={text}
              problems={lines}
              place={place}
              describedBy={hint}
              onChange={onText}
            />
          </Suspense>
          <p className="edit-hint" id={hint}>
            {t.editor.edit.hint}
          </p>
        </>
      )}
    </div>
  );
}

interface EditorProps {
  template: Template;
  version: TemplateVersion;
  /** The files of the version. */
  base: Sources;
  /** Told of a version that was built here, before the address names it. */
  onBuilt: (version: TemplateVersion) => void;
}

function Editor({ template, version, base, onBuilt }: EditorProps) {
  const { t } = useEditorI18n();
  const search = editVersionRoute.useSearch();
  const navigate = useNavigate();
  const [files, setFiles] = useState(base);
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const [logLine, setLogLine] = useState<number>();
  const [publishing, setPublishing] = useState(false);
  /** A log is shown for what was built here, and for what did not work. */
  const [built, setBuilt] = useState(!hasImported(version));
  const changes = useMemo(() => changedFiles(base, files), [base, files]);
  const path = search.file !== undefined && files.has(search.file) ? search.file : firstFile(files);
  const title = template.display_name || template.name;
  useTitle(t.editor.edit.title(title));

  const open = (file: string | undefined) =>
    void navigate({
      to: "/templates/$template/versions/$version/edit",
      params: { template: template.name, version: version.name },
      search: file === undefined ? {} : { file },
      replace: true,
    });

  const build = useBuild(template, (next) => {
    onBuilt(next);
    setBuilt(true);
    setLogLine(undefined);
    void navigate({
      to: "/templates/$template/versions/$version/edit",
      params: { template: template.name, version: next.name },
      search: path === undefined ? {} : { file: path },
      replace: true,
      ignoreBlocker: true,
    });
  });
  const importing = isImporting(version);
  const whyNoBuild = importing
    ? t.editor.edit.why.building
    : !hasTerraform(files)
      ? t.editor.edit.why.noTerraform
      : changes.length === 0 && hasImported(version)
        ? t.editor.edit.why.same
        : undefined;
  const start = (values?: VariableValue[]) => {
    if (build.isPending || (whyNoBuild !== undefined && !values)) return;
    build.mutate({
      files,
      ...(changes.length === 0 ? { kept: version.job.file_id } : {}),
      ...(values ? { values } : {}),
    });
  };
  // On a small page what comes of a build would be out of sight.
  const output = useRef<HTMLElement>(null);
  useEffect(() => {
    if (importing) output.current?.scrollIntoView({ block: "nearest" });
  }, [importing]);
  const pressed = useRef(start);
  pressed.current = start;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      pressed.current();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);

  const can = canActivate(template, version, true);
  const whyNoPublish =
    changes.length > 0
      ? t.editor.edit.why.changed
      : can === true
        ? undefined
        : t.editor.edit.why[can === "importing" ? "building" : can];

  const onText = useCallback(
    (changed: string, text: string) =>
      setFiles((old) => {
        const source = old.get(changed);
        if (!source || source.text === text) return old;
        const before = base.get(changed);
        const next = { ...source, text, data: undefined };
        return new Map(old).set(changed, same(before, next) && before ? before : next);
      }),
    [base],
  );
  const revert = (reverted: string) =>
    setFiles((old) => {
      const before = base.get(reverted);
      return before ? sorted([...old.values()].map((each) => (each.path === reverted ? before : each))) : old;
    });

  return (
    <main className="edit" id="content">
      <LeaveGuard changes={changes.length} />
      <header className="version-head">
        <div className="version-head-title">
          <Crumbs template={template} last={version.name} />
          <JobState status={version.job.status} />
          <span className="muted small" role="status">
            {changes.length > 0 && t.editor.edit.unsaved(changes.length)}
          </span>
        </div>
        <div className="version-head-actions">
          <Button icon={Hammer} busy={build.isPending} why={whyNoBuild} onClick={() => start()}>
            {importing || build.isPending ? t.editor.edit.building : t.editor.edit.build}
          </Button>
          <Button look="primary" icon={Rocket} why={whyNoPublish} onClick={() => setPublishing(true)}>
            {t.editor.edit.publish}
          </Button>
        </div>
      </header>
      {build.error && (
        <div className="edit-error">
          <ErrorNote error={build.error} />
        </div>
      )}
      <div className="edit-body">
        <EditFiles
          files={files}
          changes={changes}
          wrong={new Set(problems.map((problem) => problem.file ?? ""))}
          current={path}
          onFiles={setFiles}
          onOpen={open}
        />
        <EditedFile
          source={path === undefined ? undefined : files.get(path)}
          base={path === undefined ? undefined : base.get(path)}
          problems={problems}
          onText={onText}
          onRevert={revert}
        />
        <section className="edit-output" ref={output} aria-label={t.editor.edit.output}>
          {built ? (
            <ImportLog
              key={version.id}
              version={version}
              line={logLine}
              onLine={setLogLine}
              onProblems={setProblems}
              placeLink={(file, line, words) =>
                files.has(file) && (
                  <Link
                    to="/templates/$template/versions/$version/edit"
                    params={{ template: template.name, version: version.name }}
                    search={{ file, line }}
                    replace
                  >
                    {words}
                  </Link>
                )
              }
            >
              {needsValues(version) && (
                <VariablesForm version={version.id} busy={build.isPending} onSubmit={start} />
              )}
            </ImportLog>
          ) : (
            <Empty icon={ScrollText} title={t.editor.edit.output}>
              <p>{t.editor.edit.outputEmpty}</p>
            </Empty>
          )}
        </section>
      </div>
      {publishing && (
        <PublishDialog
          template={template}
          version={version}
          onClose={() => setPublishing(false)}
          onPublished={(named) =>
            void navigate({
              to: "/templates/$template/versions/$version",
              params: { template: template.name, version: named.name },
              search: {},
            })
          }
        />
      )}
    </main>
  );
}

/** Files that were changed outlive the change of address that a build brings. */
function useLineage() {
  const heirs = useRef(new Map<string, string>());
  const origin = (id: string) => heirs.current.get(id) ?? id;
  return {
    origin,
    onBuilt: (from: string) => (next: TemplateVersion) => {
      heirs.current.set(next.id, origin(from));
    },
  };
}

export function EditPage() {
  const params = editVersionRoute.useParams();
  const { template, version, mayEdit, error, notFound, retry } = useNamedVersion(params);
  const files = useQuery({
    ...filesQuery(version?.job.file_id ?? ""),
    enabled: version !== undefined && mayEdit === true,
  });
  const { origin, onBuilt } = useLineage();
  if (notFound) return <NotFound />;
  if (template && version && mayEdit && files.data) {
    return (
      <Editor
        key={origin(version.id)}
        template={template}
        version={version}
        base={files.data}
        onBuilt={onBuilt(version.id)}
      />
    );
  }
  const failure = error ?? files.error;
  return (
    <main className="page" id="content">
      <h1>{params.template}</h1>
      {failure ? (
        <ErrorNote
          error={failure}
          onRetry={() => {
            retry();
            void files.refetch();
          }}
        />
      ) : mayEdit === false ? (
        <FilesHidden />
      ) : (
        <Skeleton rows={8} />
      )}
    </main>
  );
}
