/** The bar above a log. */

import {
  ArrowDownToLine,
  ChevronDown,
  ChevronUp,
  Clock,
  Download,
  OctagonAlert,
  SearchIcon,
  WrapText,
} from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import type { Log } from "@/api/logs";
import { useT } from "@/i18n";
import { plainText } from "@/lib/ansi";
import { saveText } from "@/lib/download";
import { Button } from "../Button";
import { CopyButton } from "../CopyButton";
import "../input.css";

interface Props {
  log: Log;
  name: string;
  source?: ReactNode;
  search: {
    query: string;
    setQuery: (query: string) => void;
    matches: readonly number[];
    current: number | undefined;
    go: (step: 1 | -1) => void;
  };
  nextError: (() => void) | undefined;
  toggles: {
    times: boolean;
    setTimes: (on: boolean) => void;
    wrap: boolean;
    setWrap: (on: boolean) => void;
    follow: boolean;
    setFollow: (on: boolean) => void;
  };
}

const asText = (log: Log) => log.lines.map((line) => `${plainText(line.text)}\n`).join("");

export function LogTools({ log, name, source, search, nextError, toggles }: Props) {
  const t = useT();
  const at = search.current === undefined ? -1 : search.matches.indexOf(search.current);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") search.go(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") search.setQuery("");
  };
  return (
    <div className="log-tools">
      {source}
      <span className="log-search">
        <SearchIcon size={14} aria-hidden />
        <input
          type="text"
          className="input"
          value={search.query}
          aria-label={t.log.search}
          placeholder={t.log.search}
          onChange={(event) => search.setQuery(event.target.value)}
          onKeyDown={onKey}
        />
        {search.query !== "" && (
          <span className="log-count" role="status">
            {search.matches.length > 0 ? t.log.matches(at + 1, search.matches.length) : t.log.noMatch}
          </span>
        )}
      </span>
      {search.query !== "" && (
        <>
          <Button look="quiet" icon={ChevronUp} label={t.log.previousMatch} onClick={() => search.go(-1)} />
          <Button look="quiet" icon={ChevronDown} label={t.log.nextMatch} onClick={() => search.go(1)} />
        </>
      )}
      <span className="log-space" />
      <span className="log-state" role="status">
        {log.state === "live" ? t.log.live : log.state === "interrupted" ? t.log.interrupted : ""}
      </span>
      <span className="log-total">{t.log.lines(log.lines.length)}</span>
      <Button
        look="quiet"
        icon={OctagonAlert}
        label={t.log.nextError}
        why={nextError ? undefined : t.log.noError}
        onClick={nextError}
      />
      <Button
        look="quiet"
        icon={Clock}
        label={t.log.times}
        aria-pressed={toggles.times}
        onClick={() => toggles.setTimes(!toggles.times)}
      />
      <Button
        look="quiet"
        icon={WrapText}
        label={t.log.wrap}
        aria-pressed={toggles.wrap}
        onClick={() => toggles.setWrap(!toggles.wrap)}
      />
      <Button
        look="quiet"
        icon={ArrowDownToLine}
        label={t.log.follow}
        aria-pressed={toggles.follow}
        onClick={() => toggles.setFollow(!toggles.follow)}
      />
      <CopyButton text={() => asText(log)} label={t.log.copy} />
      <Button
        look="quiet"
        icon={Download}
        label={t.log.download}
        onClick={() => saveText(asText(log), name)}
      />
    </div>
  );
}
