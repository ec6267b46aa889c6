/** Where the links of a navigation are a row that scrolls, the one of this page is in sight. */

import { useEffect, useRef } from "react";

/** For the element that scrolls; another `current` is another link, and another width another place for it. */
export function useCurrentInSight(current: string) {
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another link
  useEffect(() => {
    const row = nav.current;
    if (!row) return;
    const center = () => {
      const link = row.querySelector("[aria-current]")?.getBoundingClientRect();
      if (!link) return;
      const box = row.getBoundingClientRect();
      row.scrollLeft += link.left + link.width / 2 - (box.left + box.width / 2);
    };
    const observer = new ResizeObserver(center);
    observer.observe(row);
    return () => observer.disconnect();
  }, [current]);
  return nav;
}
