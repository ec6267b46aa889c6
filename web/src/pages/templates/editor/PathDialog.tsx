/** Asks for the path of a new file, or for another one of a file or folder. */

import { type FormEvent, useState } from "react";
import { useEditorI18n } from "@/i18n/editor";
import { pathProblem, type Sources } from "@/lib/sources";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Field } from "@/ui/Field";

interface Props {
  files: Sources;
  /** What is renamed; nothing for a new file. */
  from?: string;
  onDone: (path: string) => void;
  onClose: () => void;
}

export function PathDialog({ files, from, onDone, onClose }: Props) {
  const { t } = useEditorI18n();
  const [path, setPath] = useState(from ?? "");
  const [asked, setAsked] = useState(false);
  const wanted = path.trim();
  const problem = pathProblem(files, wanted, from);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (!problem) onDone(wanted);
  };
  return (
    <Dialog
      open
      title={from === undefined ? t.editor.edit.newFile : t.editor.edit.renameTitle(from)}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={submit}>
        <Field
          label={t.editor.edit.newFilePath}
          hint={t.editor.edit.newFileHint}
          error={asked && problem ? t.editor.edit.paths[problem] : undefined}
          value={path}
          onChange={(event) => setPath(event.target.value)}
          autoFocus
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary">
            {from === undefined ? t.editor.edit.create : t.editor.edit.rename}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
