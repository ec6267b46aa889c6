/** Says that something was saved, where it was. */

import { Check } from "lucide-react";
import { useT } from "@/i18n";

export function Saved({ done }: { done: boolean }) {
  const t = useT();
  return (
    <span className="saved" role="status">
      {done && (
        <>
          <Check size={14} aria-hidden /> {t.workspacePage.settings.saved}
        </>
      )}
    </span>
  );
}
