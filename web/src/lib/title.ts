/** The title of the browser's tab. */

import { useEffect } from "react";
import { useT } from "@/i18n";

export function useTitle(...parts: (string | undefined)[]) {
  const t = useT();
  const title = [...parts, t.product].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
