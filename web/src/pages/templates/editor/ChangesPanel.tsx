/** What differs from another version, file by file. */

import { useQuery } from "@tanstack/react-query";
import { FileDiff, GitCompare } from "lucide-react";
import { useMemo } from "react";
import { templateVersionQuery } from "@/api/queries";
import type { Template, TemplateVersion } from "@/api/types";
import { filesQuery, versionBeforeQuery } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { changedFiles, type FileChange, linesOf } from "@/lib/diff";
import { versionRoute } from "@/routes/editor";
import { DiffView } from "@/ui/code/DiffView";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { FilesHidden } from "./FilesPanel";

/** So many files are opened at once; the others when one wants them. */
const OPEN_FILES = 20;

const TONES = { added: "running", removed: "failed", changed: "busy" } as const;

function Change({ change }: { change: FileChange }) {
  const { t } = useEditorI18n();
  const { before, after } = change;
  const texts = [before, after].map((source) =>
    source === undefined ? "" : source.target !== undefined ? source.target : source.text,
  );
  const [old, now] = texts;
  if (old === undefined || now === undefined) {
    return <p className="change-note">{t.editor.version.binaryChanged}</p>;
  }
  const sameLines = before && after && linesOf(old).join("\n") === linesOf(now).join("\n");
  if (sameLines) return <p className="change-note">{t.editor.version.onlyForm}</p>;
  return <DiffView label={change.path} before={old} after={now} />;
}

/** All differences between two archives. */
export function Changes({ before, after }: { before: string; after: string }) {
  const { t } = useEditorI18n();
  const old = useQuery(filesQuery(before));
  const now = useQuery(filesQuery(after));
  const changes = useMemo(
    () => (old.data && now.data ? changedFiles(old.data, now.data) : undefined),
    [old.data, now.data],
  );
  const error = old.error ?? now.error;
  if (error) {
    const retry = () => {
      void old.refetch();
      void now.refetch();
    };
    return <ErrorNote error={error} onRetry={retry} />;
  }
  if (!changes) return <Skeleton rows={6} />;
  if (changes.length === 0) return <Empty icon={GitCompare} title={t.editor.version.noChanges} />;
  return (
    <>
      <p className="muted small">{t.editor.version.changed(changes.length)}</p>
      {changes.map((change, at) => (
        <details key={change.path} className="change" open={at < OPEN_FILES}>
          <summary>
            <span className="mono change-path">{change.path}</span>
            <Badge tone={TONES[change.kind] === "failed" ? "failed" : TONES[change.kind]}>
              {t.editor.version.kinds[change.kind]}
            </Badge>
          </summary>
          <Change change={change} />
        </details>
      ))}
    </>
  );
}

interface Props {
  template: Template;
  version: TemplateVersion;
  mayEdit: boolean | undefined;
}

export function ChangesPanel({ template, version, mayEdit }: Props) {
  const { t } = useEditorI18n();
  const { against } = versionRoute.useSearch();
  const navigate = versionRoute.useNavigate();
  const previous = useQuery(versionBeforeQuery(template, version.name));
  const active = useQuery(templateVersionQuery(template.active_version_id));
  if (mayEdit === false) return <FilesHidden />;
  const error = previous.error ?? active.error;
  if (error) return <ErrorNote error={error} onRetry={() => void previous.refetch()} />;
  if (mayEdit === undefined || previous.data === undefined || !active.data) return <Skeleton rows={6} />;
  const isActive = active.data.id === version.id;
  const options: (readonly ["previous" | "active", TemplateVersion, string])[] = [];
  if (previous.data) {
    options.push(["previous", previous.data, t.editor.version.previous(previous.data.name)]);
  }
  if (!isActive) options.push(["active", active.data, t.editor.version.activeOne(active.data.name)]);
  const chosen = options.find(([key]) => key === (against ?? "previous")) ?? options[0];
  if (!chosen) {
    return (
      <Empty icon={FileDiff} title={t.editor.version.firstVersion}>
        <p>{t.editor.version.firstVersionText}</p>
      </Empty>
    );
  }
  return (
    <div className="file-changes">
      <label className="changes-against">
        {t.editor.version.against}
        <select
          className="input"
          value={chosen[0]}
          onChange={(event) =>
            void navigate({
              search: {
                panel: "changes",
                ...(event.target.value === "active" ? { against: "active" as const } : {}),
              },
              replace: true,
            })
          }
        >
          {options.map(([key, , words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <Changes before={chosen[1].job.file_id} after={version.job.file_id} />
    </div>
  );
}
