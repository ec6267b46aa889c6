/** Steps through a list that the server gives in pages. */

import { ChevronLeft, ChevronRight } from "lucide-react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import "./pages.css";

interface Props {
  /** Counted from 1. */
  page: number;
  size: number;
  count: number;
  onGo: (page: number) => void;
}

export function Pages({ page, size, count, onGo }: Props) {
  const t = useT();
  if (count <= size) return null;
  const last = Math.ceil(count / size);
  return (
    <nav className="pages" aria-label={t.common.pages}>
      <Button
        icon={ChevronLeft}
        label={t.common.previous}
        disabled={page <= 1}
        onClick={() => onGo(page - 1)}
      />
      <span className="tabular">
        {t.common.range((page - 1) * size + 1, Math.min(count, page * size), count)}
      </span>
      <Button
        icon={ChevronRight}
        label={t.common.next}
        disabled={page >= last}
        onClick={() => onGo(page + 1)}
      />
    </nav>
  );
}
