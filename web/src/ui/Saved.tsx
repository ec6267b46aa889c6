/** Says that something was saved, where it was. */

import { Check } from "lucide-react";
import { useT } from "@/i18n";
import "./field.css";

export function Saved({ done }: { done: boolean }) {
  const t = useT();
  return (
    <span className="saved" role="status">
      {done && (
        <>
          <Check size={16} aria-hidden /> {t.common.saved}
        </>
      )}
    </span>
  );
}
