/** Takes files, folders and archives, dropped or chosen, and reads them as a template. */

import { useMutation } from "@tanstack/react-query";
import { FileUp, FolderUp, Upload as UploadIcon } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { sources as api } from "@/api/endpoints";
import { useEditorI18n } from "@/i18n/editor";
import type { Sources } from "@/lib/sources";
import { bareName, type Chosen, fromDrop, fromInput, readTemplate, UploadProblem } from "@/lib/upload";
import { Button } from "@/ui/Button";
import { ErrorNote } from "@/ui/Notes";

/** The server knows how to read a zip; what it keeps is a tar. */
const unzip = async (zip: Blob) => api.get(await api.upload(zip));

export interface Upload {
  /** What was chosen: an archive, a folder, or a file. */
  name: string;
  files: Sources;
}

export function DropZone({ onRead }: { onRead: (upload: Upload) => void }) {
  const { t } = useEditorI18n();
  const [over, setOver] = useState(false);
  const archive = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const read = useMutation({
    mutationFn: async (choosing: Promise<Chosen[]> | Chosen[]) => {
      const chosen = await choosing;
      const files = await readTemplate(chosen, unzip);
      return { name: bareName(chosen[0]?.path.split("/")[0] ?? ""), files };
    },
    onSuccess: onRead,
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    read.mutate(fromDrop(event.dataTransfer));
  };
  const problem = read.error instanceof UploadProblem ? read.error : undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is another way to what the buttons do
    <div
      className={`drop${over ? " drop-over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <UploadIcon size={24} aria-hidden />
      <p className="drop-title">
        {read.isPending ? t.editor.fresh.reading : over ? t.editor.fresh.dropNow : t.editor.fresh.drop}
      </p>
      <p className="muted small">{t.editor.fresh.dropHint}</p>
      <div className="drop-actions">
        <Button icon={FileUp} busy={read.isPending} onClick={() => archive.current?.click()}>
          {t.editor.fresh.chooseArchive}
        </Button>
        <Button icon={FolderUp} busy={read.isPending} onClick={() => folder.current?.click()}>
          {t.editor.fresh.chooseFolder}
        </Button>
      </div>
      {[archive, folder].map((input) => (
        <input
          key={input === archive ? "archive" : "folder"}
          ref={input}
          type="file"
          hidden
          multiple
          data-input={input === archive ? "archive" : "folder"}
          {...(input === folder ? { webkitdirectory: "" } : {})}
          onChange={(event) => {
            read.mutate(fromInput([...(event.target.files ?? [])]));
            event.target.value = "";
          }}
        />
      ))}
      {read.error && (
        <ErrorNote
          error={read.error}
          title={problem ? t.editor.uploadProblems[problem.kind] : undefined}
          next={problem?.message || undefined}
        />
      )}
    </div>
  );
}
