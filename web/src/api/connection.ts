/** Whether the server is reachable, as the requests of all parts of the UI notice it. */

import { useSyncExternalStore } from "react";

export interface Connection {
  lost: boolean;
  /** The version that answers now differs from the one that this page was loaded from. */
  newVersion: boolean;
}

let state: Connection = { lost: false, newVersion: false };
let loadedVersion: string | undefined;
const listeners = new Set<() => void>();

function set(next: Connection) {
  if (next.lost === state.lost && next.newVersion === state.newVersion) return;
  state = next;
  for (const listener of listeners) listener();
}

export const connection = {
  get: () => state,
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  lost() {
    set({ ...state, lost: true });
  },
  /** An answer came, from this version of the server. */
  answered(version: string | null) {
    loadedVersion ??= version ?? undefined;
    // What does not say which version it is says nothing about it.
    set({ lost: false, newVersion: version === null ? state.newVersion : version !== loadedVersion });
  },
};

export function useConnection(): Connection {
  return useSyncExternalStore(connection.subscribe, connection.get);
}
