/** Keeps workspaces current by the server's watch streams. */

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { putWorkspace } from "./queries";
import { openEvents } from "./streams";
import type { Workspace } from "./types";
import { urls } from "./urls";

/** More streams than this are not opened at once; rows after them are renewed with the list. */
const MOST_STREAMS = 40;

export function useLiveWorkspaces(workspaces: readonly Workspace[]) {
  const client = useQueryClient();
  const ids = workspaces
    .slice(0, MOST_STREAMS)
    .map((workspace) => workspace.id)
    .sort()
    .join(" ");
  useEffect(() => {
    const streams = ids
      .split(" ")
      .filter(Boolean)
      .map((id) => openEvents<Workspace>(urls.workspaceWatch(id), (news) => putWorkspace(client, news)));
    return () => {
      for (const close of streams) close();
    };
  }, [client, ids]);
}
