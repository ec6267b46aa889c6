/** The head of the list: how many there are, which are chosen, and what is done with those. */

import { CirclePlay, CircleStop, type LucideIcon, RefreshCw, Trash2, X } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import type { Ask } from "@/api/actions";
import type { Workspace } from "@/api/types";
import { useT } from "@/i18n";
import { BULK_ACTIONS, type BulkAction, canBulk, isNeedy } from "@/lib/bulk";
import { Button } from "@/ui/Button";
import type { Run } from "./useBulk";

const ICONS: Record<BulkAction, LucideIcon> = {
  start: CirclePlay,
  stop: CircleStop,
  update: RefreshCw,
  delete: Trash2,
};
/** Loaded when something is to be deleted. */
const Confirm = lazy(async () => ({ default: (await import("@/ui/Dialog")).Confirm }));

/** So many names are shown of what is to be deleted, or needs values. */
const NAMED = 8;

interface Props {
  count: number;
  shown: number;
  chosen: readonly Workspace[];
  run: Run | undefined;
  /** All that are listed. */
  rows: readonly Workspace[];
  onAsk: (ask: Ask) => void;
  onAll: (all: boolean) => void;
  onAction: (action: BulkAction) => void;
  onForget: () => void;
}

const nameOf = (workspace: Workspace) => `${workspace.owner_name}/${workspace.name}`;

/** What became of the last action, in one sentence that is read out. */
function Summary({ run }: { run: Run }) {
  const t = useT();
  const kinds = Object.values(run.outcomes).map(({ kind }) => kind);
  const of = (wanted: string) => kinds.filter((kind) => kind === wanted).length;
  return (
    <>
      {t.actions.of(
        t.workspaces.bulk[run.action],
        t.workspaces.bulk.summary(of("queued"), of("skipped"), of("failed")),
      )}
      {run.going && ` ${t.workspaces.bulk.going}`}
    </>
  );
}

/** Which workspaces were left out for want of values; each leads to where those are given. */
function Needy({ rows, onAsk }: Pick<Props, "rows" | "onAsk">) {
  const t = useT();
  return (
    <div className="bulk-needy">
      <p>{t.workspaces.bulk.needy(rows.length)}</p>
      {rows.slice(0, NAMED).map((workspace) => (
        <Button key={workspace.id} onClick={() => onAsk({ workspace, wanted: "active" })}>
          {nameOf(workspace)}
        </Button>
      ))}
      {rows.length > NAMED && <p>{t.workspaces.bulk.others(rows.length - NAMED)}</p>}
    </div>
  );
}

export function BulkBar(props: Props) {
  const { count, shown, chosen, run, rows, onAsk, onAll, onAction, onForget } = props;
  const t = useT();
  const all = useRef<HTMLInputElement>(null);
  const [deleting, setDeleting] = useState(false);
  const some = chosen.length > 0;
  useEffect(() => {
    if (all.current) all.current.indeterminate = some && chosen.length < shown;
  }, [some, chosen.length, shown]);

  const able = (action: BulkAction) => chosen.filter((row) => canBulk(row, action) === true);
  const doomed = able("delete");
  const needy = run && rows.filter((row) => isNeedy(run.outcomes[row.id]) && row.outdated);
  const press = (action: BulkAction) => (action === "delete" ? setDeleting(true) : onAction(action));
  return (
    <div className="bulk">
      <label className="row-check">
        <input
          ref={all}
          type="checkbox"
          checked={some && chosen.length === shown}
          onChange={(event) => onAll(event.target.checked)}
          aria-label={t.workspaces.bulk.all}
        />
      </label>
      <p className="bulk-count tabular" role="status">
        {some ? t.workspaces.bulk.chosen(chosen.length) : t.workspaces.found(count)}
        {run && (
          <span className="bulk-summary">
            <Summary run={run} />
          </span>
        )}
      </p>
      {some && (
        <div className="bulk-actions">
          {BULK_ACTIONS.map((action) => (
            <Button
              key={action}
              icon={ICONS[action]}
              look={action === "delete" ? "danger" : "plain"}
              busy={run?.going === true}
              why={able(action).length === 0 ? t.workspaces.bulk.none : undefined}
              onClick={() => press(action)}
            >
              {t.workspaces.bulk[action]}
            </Button>
          ))}
        </div>
      )}
      {(some || run) && (
        <Button
          look="quiet"
          icon={X}
          label={t.workspaces.bulk.clear}
          onClick={() => {
            onAll(false);
            onForget();
          }}
        />
      )}
      {needy && needy.length > 0 && <Needy rows={needy} onAsk={onAsk} />}
      {deleting && (
        <Suspense>
          <Confirm
            open
            danger
            busy={false}
            error={undefined}
            title={t.workspaces.bulk.deleteTitle(doomed.length)}
            lead={
              <>
                <p>{t.workspaces.bulk.deleteText}</p>
                <ul className="bulk-names">
                  {doomed.slice(0, NAMED).map((row) => (
                    <li key={row.id} className="cut">
                      {nameOf(row)}
                    </li>
                  ))}
                  {doomed.length > NAMED && <li>{t.workspaces.bulk.others(doomed.length - NAMED)}</li>}
                </ul>
                {doomed.length < chosen.length && (
                  <p>{t.workspaces.bulk.willSkip(chosen.length - doomed.length)}</p>
                )}
              </>
            }
            name={doomed.length === 1 ? (doomed[0]?.name ?? "") : String(doomed.length)}
            action={t.workspaces.bulk.delete}
            onConfirm={() => {
              setDeleting(false);
              onAction("delete");
            }}
            onClose={() => setDeleting(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
