/** Keeps workspaces current by the server's watch streams. */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { applyChanges } from "@/lib/listChanges";
import { putNews } from "./news";
import { meQuery, PAGE_SIZE, putWorkspace, workspaceQuery, workspacesQuery } from "./queries";
import { openEvents } from "./streams";
import type { Workspace, WorkspaceListChanges, WorkspacesResponse } from "./types";
import { urls } from "./urls";

/** Follows one workspace. */
export function useLiveWorkspace(id: string) {
  const client = useQueryClient();
  useEffect(
    () =>
      openEvents<Workspace>(urls.workspaceWatch(id), (news) => {
        putWorkspace(client, news);
        putNews(client, workspaceQuery(news.owner_name, news.name).queryKey, () => news);
      }),
    [client, id],
  );
}

/** Where builds are that run: the stage of the build's log, by workspace. */
export type Stages = Readonly<Record<string, string>>;

/** Reads the list once more, after a reading that has begun before. */
async function readAgain(client: QueryClient, filter: string, page: number) {
  const { queryKey } = workspacesQuery(filter, page);
  await client
    .getQueryCache()
    .find({ queryKey })
    ?.promise?.catch(() => undefined);
  await client.invalidateQueries({ queryKey, exact: true });
}

/** What is left of the stages once these rows are told: a build that waits or has ended is in none. */
function keptStages(stages: Stages, changes: WorkspaceListChanges): Stages {
  const over = changes.changed.filter(
    ({ id, latest_build }) => id in stages && latest_build.job.status !== "running",
  );
  if (over.length + changes.stages.length === 0) return stages;
  const kept = { ...stages };
  for (const { id } of over) delete kept[id];
  for (const { workspace_id, stage } of changes.stages) kept[workspace_id] = stage;
  return kept;
}

/** Follows everything that a search finds, by one stream; answers the stages of its builds. */
export function useLiveList(filter: string, page: number, refused: boolean): Stages {
  const client = useQueryClient();
  const [stages, setStages] = useState<Stages>({});
  useEffect(() => {
    if (refused) return;
    const { queryKey } = workspacesQuery(filter, page);
    setStages({});
    const onData = (changes: WorkspaceListChanges) => {
      // The first frame is empty: from here on nothing is missed, and what came before is read.
      if (changes.changed.length + changes.gone.length + changes.stages.length === 0) {
        void readAgain(client, filter, page);
        return;
      }
      const me = client.getQueryData(meQuery.queryKey)?.id ?? "";
      const old = client.getQueryData(queryKey);
      putNews<WorkspacesResponse>(
        client,
        queryKey,
        (list) => list && applyChanges(list, changes, me, PAGE_SIZE),
      );
      if (old && old.count > old.workspaces.length && changes.gone.length > 0) {
        void readAgain(client, filter, page);
      }
      for (const news of changes.changed) {
        const one = workspaceQuery(news.owner_name, news.name).queryKey;
        if (client.getQueryData(one)) putNews(client, one, () => news);
      }
      setStages((before) => keptStages(before, changes));
    };
    // The stream ends with the session, and this finds out.
    const onError = () => void client.invalidateQueries({ queryKey: meQuery.queryKey });
    return openEvents(urls.workspaceListWatch(filter), onData, onError);
  }, [client, filter, page, refused]);
  return stages;
}
