/** What is done with one row at a time. It is kept by the list: a row that scrolls out of sight forgets. */

import { useCallback, useState } from "react";
import { type Action, type Ask, useAction, useFavorite } from "@/api/actions";
import type { Workspace } from "@/api/types";

/** An action that is on its way, or that has failed; nothing is left of one that went well. */
export type Doing = "going" | { error: unknown };

export type OnAct = (workspace: Workspace, action: Action) => void;
export type OnFavor = (workspace: Workspace, favorite: boolean) => void;

export function useRowActions(onAsk: (ask: Ask) => void) {
  const [doing, setDoing] = useState<Readonly<Record<string, Doing>>>({});
  const { mutateAsync: act } = useAction(onAsk);
  const { mutateAsync: favor } = useFavorite();
  const follow = useCallback(async (id: string, work: Promise<unknown>, going: boolean) => {
    const put = (news?: Doing) =>
      setDoing(({ [id]: _, ...others }) => (news === undefined ? others : { ...others, [id]: news }));
    put(going ? "going" : undefined);
    await work.then(
      () => put(),
      (error: unknown) => put({ error }),
    );
  }, []);
  const onAct: OnAct = useCallback(
    (workspace, action) => void follow(workspace.id, act({ workspace, action }), true),
    [follow, act],
  );
  const onFavor: OnFavor = useCallback(
    (workspace, favorite) => void follow(workspace.id, favor({ workspace, favorite }), false),
    [follow, favor],
  );
  return { doing, onAct, onFavor };
}
