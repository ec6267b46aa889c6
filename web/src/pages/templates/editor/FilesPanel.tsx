/** The files of a version, to read. */

import { useQuery } from "@tanstack/react-query";
import { Binary, Download, FileX, Link2, LockKeyhole } from "lucide-react";
import type { TemplateVersion } from "@/api/types";
import { filesQuery } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { bytes } from "@/lib/bytes";
import { saveFile } from "@/lib/saveFile";
import { bytesOf, firstFile, type Source } from "@/lib/sources";
import { versionRoute } from "@/routes/editor";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { CodeView } from "@/ui/code/CodeView";
import { FileTree } from "@/ui/FileTree";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";

/** Says that files are for those who may edit the template. */
export function FilesHidden() {
  const { t } = useEditorI18n();
  return (
    <Empty icon={LockKeyhole} title={t.editor.version.filesHidden}>
      <p>{t.editor.version.filesHiddenNext}</p>
    </Empty>
  );
}

/** A file that is no text, in words. */
export function NoText({ source }: { source: Source }) {
  const { t, language } = useEditorI18n();
  if (source.target !== undefined) {
    return <Empty icon={Link2} title={t.editor.version.link(source.target)} />;
  }
  return <Empty icon={Binary} title={t.editor.version.binary(bytes(language, bytesOf(source).length))} />;
}

function Content({ source }: { source: Source }) {
  const { t, language } = useEditorI18n();
  const { line } = versionRoute.useSearch();
  const navigate = versionRoute.useNavigate();
  const { text } = source;
  return (
    <div className="file">
      <div className="file-head">
        <h2 className="cut mono">{source.path}</h2>
        <span className="muted small">
          {bytes(language, bytesOf(source).length)}
          {(source.mode & 0o100) !== 0 && ` · ${t.editor.version.executable}`}
        </span>
        <span className="file-actions">
          {text !== undefined && <CopyButton text={() => text} label={`${t.common.copy}: ${source.path}`} />}
          {source.target === undefined && (
            <Button
              look="quiet"
              icon={Download}
              label={t.editor.version.download}
              onClick={() => saveFile(source.path, bytesOf(source))}
            />
          )}
        </span>
      </div>
      {text === undefined ? (
        <NoText source={source} />
      ) : text === "" ? (
        <Empty icon={FileX} title={t.editor.version.emptyFile} />
      ) : (
        <CodeView
          path={source.path}
          text={text}
          line={line}
          onLine={(next) =>
            void navigate({ search: { panel: "files", file: source.path, line: next }, replace: true })
          }
        />
      )}
    </div>
  );
}

interface Props {
  version: TemplateVersion;
  mayEdit: boolean | undefined;
}

export function FilesPanel({ version, mayEdit }: Props) {
  const { t } = useEditorI18n();
  const search = versionRoute.useSearch();
  const params = versionRoute.useParams();
  const { data, error, refetch } = useQuery({
    ...filesQuery(version.job.file_id),
    enabled: mayEdit === true,
  });
  if (mayEdit === false) return <FilesHidden />;
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={8} />;
  if (data.size === 0) return <Empty icon={FileX} title={t.editor.version.noFiles} />;
  const source = data.get(search.file ?? "") ?? data.get(firstFile(data) ?? "");
  return (
    <div className="files">
      <div className="files-side">
        <FileTree
          label={t.editor.version.filesLabel}
          paths={data.keys()}
          current={source?.path}
          linkTo={(file) => ({
            to: "/templates/$template/versions/$version",
            params,
            search: { panel: "files", file },
          })}
        />
      </div>
      {source && <Content key={source.path} source={source} />}
    </div>
  );
}
