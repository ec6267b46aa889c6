/** The icon of the browser's tab. On a workspace's page it tells the state, by its shape as well as its colour. */

import { useEffect } from "react";
import type { State } from "./status";

const PLAIN = "/favicon.svg";

/** The file for a state; states that need no look have the plain icon. */
export function faviconOf(state: State): string {
  switch (state) {
    case "running":
      return "/favicon-running.svg";
    case "pending":
    case "starting":
    case "stopping":
    case "canceling":
    case "deleting":
      return "/favicon-busy.svg";
    case "failed":
      return "/favicon-failed.svg";
    case "unhealthy":
      return "/favicon-unhealthy.svg";
    default:
      return PLAIN;
  }
}

/** Shows the state while the component is there. */
export function useFavicon(state: State) {
  useEffect(() => {
    const link = document.querySelector('link[rel="icon"]');
    link?.setAttribute("href", faviconOf(state));
    return () => link?.setAttribute("href", PLAIN);
  }, [state]);
}
