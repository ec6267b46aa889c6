/** What the screen is like, for what style sheets cannot decide. */

import { useSyncExternalStore } from "react";

/** The same border as in the style sheets. */
const narrow = window.matchMedia("(max-width: 719px)");

function subscribe(listener: () => void) {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** The navigation is a bar at the bottom. */
export const useNarrow = () => useSyncExternalStore(subscribe, () => narrow.matches);

/** Apple's keyboards have ⌘ where others have Ctrl. */
export const isMac = /mac|iphone|ipad/i.test(navigator.platform);
