/** The files that are edited: which there are, what is new or wrong in them, and making, moving and deleting them. */

import { CircleX, Ellipsis, FilePlus, Pencil, Trash2, Upload } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { useEditorI18n } from "@/i18n/editor";
import type { FileChange } from "@/lib/diff";
import { type Branch, clashOf, moved, newSource, type Sources, withAll, without } from "@/lib/sources";
import { type Chosen, fromDrop, fromInput, readFiles, UploadProblem } from "@/lib/upload";
import { editVersionRoute } from "@/routes/editor";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { FileTree } from "@/ui/FileTree";
import { Menu, MenuItem } from "@/ui/Menu";
import { ErrorNote } from "@/ui/Notes";
import { PathDialog } from "./PathDialog";

interface Props {
  files: Sources;
  changes: readonly FileChange[];
  /** Files that the last import complained of. */
  wrong: ReadonlySet<string>;
  current: string | undefined;
  onFiles: (change: (files: Sources) => Sources) => void;
  onOpen: (path: string | undefined) => void;
}

type Asked = { kind: "new" } | { kind: "rename" | "remove"; path: string };

export function EditFiles({ files, changes, wrong, current, onFiles, onOpen }: Props) {
  const { t } = useEditorI18n();
  const params = editVersionRoute.useParams();
  const [asked, setAsked] = useState<Asked>();
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const kinds = new Map(changes.map((change) => [change.path, change.kind]));

  const add = async (reading: Promise<Chosen[]> | Chosen[]) => {
    setProblem(undefined);
    try {
      const added = await readFiles(await reading);
      const clash = clashOf(files, added);
      if (clash !== undefined) return setProblem(t.editor.edit.clash(clash));
      onFiles((old) => withAll(old, added));
      if (added[0]) onOpen(added[0].path);
    } catch (error) {
      setProblem(error instanceof UploadProblem ? t.editor.uploadProblems[error.kind] : String(error));
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void add(fromDrop(event.dataTransfer));
  };

  const mark = (path: string) => {
    if (wrong.has(path)) {
      return (
        <span className="file-mark tone-failed">
          <CircleX size={14} role="img" aria-label={t.editor.edit.marks.problem} />
        </span>
      );
    }
    const kind = kinds.get(path);
    if (kind !== "added" && kind !== "changed") return null;
    return <span className="file-mark file-changed">{t.editor.edit.marks[kind]}</span>;
  };
  const actions = (branch: Branch) => (
    <Menu trigger={<Button look="quiet" icon={Ellipsis} aria-label={t.editor.edit.actionsOf(branch.path)} />}>
      <MenuItem icon={Pencil} onSelect={() => setAsked({ kind: "rename", path: branch.path })}>
        {t.editor.edit.rename}
      </MenuItem>
      <MenuItem icon={Trash2} onSelect={() => setAsked({ kind: "remove", path: branch.path })}>
        {t.editor.edit.remove}
      </MenuItem>
    </Menu>
  );

  const close = () => setAsked(undefined);
  /** Where the open file is after something was moved. */
  const follow = (from: string, to: string) => {
    if (current === from || current?.startsWith(`${from}/`)) onOpen(to + current.slice(from.length));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is another way to what the button does
    <div className="edit-side" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <div className="edit-side-tools">
        <h2>{t.editor.edit.files}</h2>
        <Button
          look="quiet"
          icon={FilePlus}
          label={t.editor.edit.newFile}
          onClick={() => setAsked({ kind: "new" })}
        />
        <Button
          look="quiet"
          icon={Upload}
          label={t.editor.edit.upload}
          onClick={() => input.current?.click()}
        />
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            void add(fromInput(event.target.files ?? []));
            event.target.value = "";
          }}
        />
      </div>
      {problem && <ErrorNote error={problem} />}
      <FileTree
        label={t.editor.edit.files}
        paths={files.keys()}
        current={current}
        linkTo={(file) => ({
          to: "/templates/$template/versions/$version/edit",
          params,
          search: { file },
          replace: true,
        })}
        mark={mark}
        actions={actions}
      />
      {asked?.kind === "new" && (
        <PathDialog
          files={files}
          onClose={close}
          onDone={(path) => {
            onFiles((old) => withAll(old, [newSource(path, new Uint8Array())]));
            onOpen(path);
            close();
          }}
        />
      )}
      {asked?.kind === "rename" && (
        <PathDialog
          files={files}
          from={asked.path}
          onClose={close}
          onDone={(path) => {
            onFiles((old) => moved(old, asked.path, path));
            follow(asked.path, path);
            close();
          }}
        />
      )}
      {asked?.kind === "remove" && (
        <Confirm
          open
          danger
          title={t.editor.edit.removeTitle(asked.path)}
          lead={t.editor.edit.removeLead}
          action={t.editor.edit.remove}
          busy={false}
          error={undefined}
          onClose={close}
          onConfirm={() => {
            onFiles((old) => without(old, asked.path));
            if (current === asked.path || current?.startsWith(`${asked.path}/`)) onOpen(undefined);
            close();
          }}
        />
      )}
    </div>
  );
}
