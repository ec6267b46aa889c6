/** Whether somebody can see the page. */

import { useSyncExternalStore } from "react";

function subscribe(listener: () => void) {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

export const useVisible = () => useSyncExternalStore(subscribe, () => document.visibilityState === "visible");
