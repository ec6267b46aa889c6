/** What agents measure, as they measure it: one stream for an agent, however often its values are shown. */

import { useCallback, useSyncExternalStore } from "react";
import { openEvents } from "./streams";
import type { WorkspaceAgentMetadata } from "./types";
import { urls } from "./urls";

interface Watched {
  items: readonly WorkspaceAgentMetadata[];
  listeners: Set<() => void>;
  close: () => void;
}

const NOTHING: readonly WorkspaceAgentMetadata[] = [];
const watched = new Map<string, Watched>();

function watch(agent: string, listener: () => void): () => void {
  let entry = watched.get(agent);
  if (!entry) {
    const fresh: Watched = { items: NOTHING, listeners: new Set(), close: () => undefined };
    fresh.close = openEvents<WorkspaceAgentMetadata[]>(urls.agentMetadata(agent), (items) => {
      fresh.items = items;
      for (const each of fresh.listeners) each();
    });
    watched.set(agent, fresh);
    entry = fresh;
  }
  const { listeners, close } = entry;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    close();
    watched.delete(agent);
  };
}

export function useMetadata(agent: string): readonly WorkspaceAgentMetadata[] {
  return useSyncExternalStore(
    useCallback((listener) => watch(agent, listener), [agent]),
    () => watched.get(agent)?.items ?? NOTHING,
  );
}
