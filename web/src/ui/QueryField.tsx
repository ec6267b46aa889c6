/** A search in the server's query language, which offers the keys and values that the list knows. */

import { SearchIcon, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { useT } from "@/i18n";
import { completions, isWhole, type QueryKey } from "@/lib/query";
import { Button } from "./Button";
import { Suggest } from "./Suggest";

/** How long after the last key a search begins. */
const PAUSE_MS = 250;

interface Props {
  /** The search that stands in the address. */
  filter: string;
  onFilter: (filter: string) => void;
  label: string;
  keys: readonly QueryKey[];
}

export function QueryField({ filter, onFilter, label, keys }: Props) {
  const t = useT();
  const [text, setText] = useState(filter);
  const [cursor, setCursor] = useState(filter.length);
  const [sent, setSent] = useState(filter);
  // The address is the truth: a link or the back button changes the field.
  if (filter !== sent) {
    setSent(filter);
    setText(filter);
  }
  const wanted = text.trim();

  useEffect(() => {
    if (wanted === sent || !isWhole(wanted)) return;
    const timer = window.setTimeout(() => {
      setSent(wanted);
      onFilter(wanted);
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [wanted, sent, onFilter]);

  const offers = useMemo(() => completions(text, cursor, keys), [text, cursor, keys]);
  return (
    <search className="query-field">
      <SearchIcon size={16} aria-hidden />
      <Suggest
        value={text}
        onText={(now, at) => {
          setText(now);
          setCursor(at);
        }}
        suggestions={offers.map((offer) => ({
          key: offer.shown,
          shown: <code>{offer.shown}</code>,
          hint: offer.hint,
        }))}
        suggestionsLabel={t.admin.search.suggestions}
        onPick={(index) => {
          const offer = offers[index];
          if (!offer) return undefined;
          setText(offer.text);
          setCursor(offer.cursor);
          return offer.cursor;
        }}
        aria-label={label}
        placeholder={label}
      />
      {text !== "" && (
        <Button look="quiet" icon={X} label={t.admin.search.clear} onClick={() => setText("")} />
      )}
    </search>
  );
}
