/** Where a new template comes from: a starter, files of one's own, or nothing. */

import { useQuery } from "@tanstack/react-query";
import { FileMinus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { TemplateExample } from "@/api/types";
import { examplesQuery } from "@/api/versionQueries";
import { useEditorI18n } from "@/i18n/editor";
import { Button, ButtonLink } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { DropZone, type Upload } from "./DropZone";
import { ExampleIcon } from "./ExampleIcon";

const Markdown = lazy(() => import("@/ui/Markdown"));

function Starter({ example }: { example: TemplateExample }) {
  const { t } = useEditorI18n();
  const [reading, setReading] = useState(false);
  return (
    <li className="starter">
      <ExampleIcon icon={example.icon} />
      <div className="starter-text">
        <h3>{example.name}</h3>
        <p>{example.description}</p>
        {example.tags.length > 0 && <p className="muted small">{example.tags.join(" · ")}</p>}
        <div className="starter-actions">
          <ButtonLink
            look="primary"
            to="/templates/new"
            search={{ exampleId: example.id }}
            text={t.editor.fresh.useStarter(example.name)}
          />
          {example.markdown && (
            <Button
              look="quiet"
              aria-label={`${t.editor.fresh.readme}: ${example.name}`}
              onClick={() => setReading(true)}
            >
              {t.editor.fresh.readme}
            </Button>
          )}
        </div>
      </div>
      <Dialog title={example.name} open={reading} onClose={() => setReading(false)}>
        <Suspense fallback={<Skeleton rows={6} />}>
          <Markdown text={example.markdown} under={2} />
        </Suspense>
      </Dialog>
    </li>
  );
}

export function Chooser({ onRead }: { onRead: (upload: Upload) => void }) {
  const { t } = useEditorI18n();
  const { data, error, refetch } = useQuery(examplesQuery);
  return (
    <>
      <section className="fresh-part">
        <h2>{t.editor.fresh.starters}</h2>
        {error ? (
          <ErrorNote error={error} onRetry={() => void refetch()} />
        ) : data ? (
          <ul className="starters">
            {data.map((example) => (
              <Starter key={example.id} example={example} />
            ))}
          </ul>
        ) : (
          <Skeleton rows={4} />
        )}
      </section>
      <section className="fresh-part">
        <h2>{t.editor.fresh.own}</h2>
        <DropZone onRead={onRead} />
        <div className="starter">
          <FileMinus size={20} aria-hidden />
          <div className="starter-text">
            <h3>{t.editor.fresh.empty}</h3>
            <p>{t.editor.fresh.emptyHint}</p>
          </div>
          <ButtonLink to="/templates/new" search={{ from: "empty" }} text={t.editor.fresh.useEmpty} />
        </div>
      </section>
    </>
  );
}
