/** The log of an import as it is written; when it has failed, what is wrong and where stands above it. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleX, Clock } from "lucide-react";
import { type ReactNode, useEffect, useMemo } from "react";
import { sources } from "@/api/endpoints";
import { type Log, useImportLog } from "@/api/logs";
import { templateVersionQuery } from "@/api/queries";
import type { TemplateVersion } from "@/api/types";
import { putVersion } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { type Problem, problemsOf } from "@/lib/problems";
import { isImporting } from "@/lib/versions";
import { Button } from "@/ui/Button";
import { LogView } from "@/ui/log/LogView";
import { ErrorNote, Note } from "@/ui/Notes";

/** More errors than this are left to the log. */
const MOST_PROBLEMS = 5;

/** Asks for the version again when its log has ended. */
function useImportEnd(version: TemplateVersion, log: Log) {
  const client = useQueryClient();
  const ended = log.state === "ended" && isImporting(version);
  useEffect(() => {
    if (!ended) return;
    void client
      .fetchQuery({ ...templateVersionQuery(version.id), staleTime: 0 })
      .then((news) => putVersion(client, news));
  }, [client, ended, version.id]);
}

/** Follows an import that is not shown, for its end. */
export function ImportEnd({ version }: { version: TemplateVersion }) {
  useImportEnd(version, useImportLog(version.id));
  return null;
}

/** A link to a place in a file; nothing when it leads nowhere. */
type PlaceLink = (file: string, line: number, words: string) => ReactNode;

interface ProblemsProps {
  problems: readonly Problem[];
  placeLink: PlaceLink | undefined;
}

function Place({ problem, placeLink }: { problem: Problem; placeLink: PlaceLink | undefined }) {
  const { t } = useEditorI18n();
  const { file, line = 1 } = problem;
  if (file === undefined) return null;
  const words = t.editor.import.place(file, line);
  return <>{placeLink?.(file, line, words) || <span className="problem-place">{words}</span>} </>;
}

function Problems({ problems, placeLink }: ProblemsProps) {
  const { t } = useEditorI18n();
  return (
    <ul className="problems">
      {problems.slice(0, MOST_PROBLEMS).map((problem, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same error may stand there twice
        <li key={at}>
          <Place problem={problem} placeLink={placeLink} />
          <strong>{problem.message}</strong>
          {problem.detail && <span className="problem-detail"> {problem.detail}</span>}
        </li>
      ))}
      {problems.length > MOST_PROBLEMS && (
        <li className="muted">{t.editor.import.more(problems.length - MOST_PROBLEMS)}</li>
      )}
    </ul>
  );
}

interface Props {
  version: TemplateVersion;
  line?: number | undefined;
  onLine: (line: number) => void;
  placeLink?: PlaceLink | undefined;
  /** What can be done about a failure. */
  next?: string;
  /** Told of what is wrong, for marks in files. */
  onProblems?: (problems: readonly Problem[]) => void;
  /** What stands between the errors and the log. */
  children?: ReactNode;
}

/** What a job that ended badly complained of. */
function useProblems(version: TemplateVersion, log: Log): readonly Problem[] {
  const { status, error = "", error_code } = version.job;
  const failed = status === "failed" && error_code !== "REQUIRED_TEMPLATE_VARIABLES";
  return useMemo(
    () => (failed && log.state === "ended" ? problemsOf(log.lines, error) : []),
    [failed, log.state, log.lines, error],
  );
}

export function ImportLog({ version, line, onLine, placeLink, next, onProblems, children }: Props) {
  const { t } = useEditorI18n();
  const client = useQueryClient();
  const log = useImportLog(version.id);
  useImportEnd(version, log);
  const problems = useProblems(version, log);
  useEffect(() => onProblems?.(problems), [onProblems, problems]);
  const cancel = useMutation({
    mutationFn: () => sources.cancel(version.id),
    onSettled: async () =>
      putVersion(client, await client.fetchQuery({ ...templateVersionQuery(version.id), staleTime: 0 })),
  });
  const { job } = version;
  const waits = job.status === "pending" && log.lines.length === 0;
  return (
    <div className="import-log">
      {isImporting(version) && (
        <div className="import-now">
          {waits && (
            <Note icon={Clock} tone="waiting">
              <p className="note-title">{t.editor.import.pending}</p>
              {job.queue_position > 0 && <p>{t.editor.import.queue(job.queue_position)}</p>}
              {version.matched_provisioners?.available === 0 && <p>{t.editor.import.noProvisioner}</p>}
            </Note>
          )}
          <Button
            icon={CircleX}
            busy={cancel.isPending}
            why={job.status === "canceling" ? t.why.canceling : undefined}
            onClick={() => cancel.mutate()}
          >
            {t.editor.import.cancel}
          </Button>
          {cancel.error && <ErrorNote error={cancel.error} />}
        </div>
      )}
      {job.status === "canceled" && (
        <Note icon={CircleX} tone="failed">
          <p className="note-title">{t.editor.import.canceled}</p>
        </Note>
      )}
      {problems.length > 0 && (
        <Note icon={CircleX} tone="failed">
          <p className="note-title">{t.editor.import.failed}</p>
          <Problems problems={problems} placeLink={placeLink} />
          <p>{next ?? t.editor.import.next}</p>
        </Note>
      )}
      {children}
      <LogView log={log} name={t.editor.import.name(version.name)} line={line} onLine={onLine} />
    </div>
  );
}
