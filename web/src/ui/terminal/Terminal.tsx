/** A terminal. Loaded only when one is opened: it is by far the largest part of the UI. */

import { useQuery } from "@tanstack/react-query";
import { FitAddon } from "@xterm/addon-fit";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal as Xterm } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";
import { appearanceQuery } from "@/api/accountQueries";
import { useT } from "@/i18n";
import { ringTitle } from "@/lib/bell";
import { useNarrow } from "@/lib/media";
import { terminalFontFamily } from "@/lib/terminalFont";
import { copyOnSelect, useFontSize } from "@/lib/terminalPreferences";
import { useShownTheme } from "@/lib/theme";
import { Button } from "../Button";
import { copyText } from "../CopyButton";
import { theme } from "./colors";
import { KeyRow } from "./KeyRow";
import { SearchBar } from "./SearchBar";
import { Session, type SessionState } from "./session";
import "@xterm/xterm/css/xterm.css";
import "./csp";
import "./terminal.css";

const SCROLLBACK = 10_000;
const BELL_MS = 200;

interface Props {
  agent: { id: string; name: string };
  id: string;
  /** Run in place of the shell. */
  command?: string | undefined;
  /** It is the one in front. */
  shown?: boolean;
  searching: boolean;
  onSearch: (on: boolean) => void;
  onBell?: () => void;
}

const usualFont = () => getComputedStyle(document.documentElement).getPropertyValue("--mono");

export function Terminal({ agent, id, command, shown = true, searching, onSearch, onBell }: Props) {
  const t = useT();
  const shownTheme = useShownTheme();
  // The account's choice, when it is known.
  const font = useQuery(appearanceQuery).data?.terminal_font;
  const fontSize = Number(useFontSize());
  const narrow = useNarrow();
  const box = useRef<HTMLDivElement>(null);
  const after = useRef<HTMLSpanElement>(null);
  const session = useRef<Session>(undefined);
  const refit = useRef(() => {});
  const said = useRef({ searching, onSearch, onBell });
  said.current = { searching, onSearch, onBell };
  const [xterm, setXterm] = useState<Xterm>();
  const [state, setState] = useState<SessionState>({ kind: "connecting" });
  const [rings, setRings] = useState(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: changes of language and font do not make a new terminal
  useEffect(() => {
    const container = box.current;
    if (!container) return;
    const term = new Xterm({
      fontFamily: terminalFontFamily(font, usualFont()),
      fontSize,
      scrollback: SCROLLBACK,
      cursorBlink: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      minimumContrastRatio: 4.5,
      // Matches of a search are drawn by an interface that is not final yet.
      allowProposedApi: true,
      theme: theme(),
    });
    const fitter = new FitAddon();
    term.loadAddon(fitter);
    term.loadAddon(new WebLinksAddon((_event, uri) => window.open(uri, "_blank", "noopener,noreferrer")));
    term.open(container);
    term.textarea?.setAttribute("aria-label", t.terminal.label(agent.name));
    term.textarea?.setAttribute("aria-description", t.terminal.leave);
    // One behind the others has no size, and keeps what it had.
    refit.current = () => {
      if (container.offsetParent !== null) fitter.fit();
    };
    refit.current();
    const live = new Session({
      agent: agent.id,
      id,
      command,
      size: () => ({ cols: term.cols, rows: term.rows }),
      onData: (data) => term.write(data),
      onReplay: () => term.reset(),
      onState: setState,
    });
    term.onData((data) => live.type(data));
    term.onBinary((data) => live.type(data));
    term.onResize((size) => live.resize(size));
    let ringing: number | undefined;
    term.onBell(() => {
      window.clearTimeout(ringing);
      ringing = window.setTimeout(() => setRings(false), BELL_MS);
      setRings(true);
      ringTitle();
      said.current.onBell?.();
    });
    term.onSelectionChange(() => {
      // A search selects what it finds, which nobody has asked to have copied.
      const text = copyOnSelect() && !said.current.searching ? term.getSelection() : "";
      if (!text) return;
      void copyText(text).then(
        () => term.focus(),
        () => undefined,
      );
    });
    term.attachCustomKeyEventHandler((event) => {
      // Tab belongs to the program in the terminal; with this key one gets out of it.
      if (event.code === "F6" && event.ctrlKey) {
        if (event.type === "keydown") after.current?.focus();
        event.preventDefault();
        return false;
      }
      const find =
        event.code === "KeyF" && ((event.ctrlKey && event.shiftKey) || (event.metaKey && !event.ctrlKey));
      if (!find) return true;
      if (event.type === "keydown") said.current.onSearch(true);
      event.preventDefault();
      return false;
    });
    const observer = new ResizeObserver(() => refit.current());
    observer.observe(container);
    session.current = live;
    setXterm(term);
    return () => {
      window.clearTimeout(ringing);
      observer.disconnect();
      live.close();
      term.dispose();
    };
  }, [agent.id, id, command]);

  useEffect(() => {
    if (!xterm || !shown) return;
    refit.current();
    xterm.focus();
  }, [xterm, shown]);

  // On a small page head and agents leave no room for all of it, and its keys are below.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that becomes small, as one that is turned does
  useEffect(() => {
    if (xterm && shown) box.current?.parentElement?.scrollIntoView({ block: "nearest" });
  }, [xterm, shown, narrow]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the tokens change with the theme
  useEffect(() => {
    if (xterm) xterm.options.theme = theme();
  }, [xterm, shownTheme]);

  useEffect(() => {
    if (!xterm) return;
    xterm.options.fontSize = fontSize;
    xterm.options.fontFamily = terminalFontFamily(font, usualFont());
    refit.current();
  }, [xterm, fontSize, font]);

  const why = {
    connecting: t.terminal.connecting,
    connected: "",
    lost: t.terminal.lost,
    ended: t.terminal.ended,
    signedOut: t.terminal.signedOut,
    away: state.kind === "away" ? t.terminal.agentAway(t.workspace.agentStatus[state.status]) : "",
  }[state.kind];
  return (
    <section
      className={rings ? "terminal terminal-rings" : "terminal"}
      aria-label={t.terminal.label(agent.name)}
      data-state={state.kind}
      hidden={!shown}
    >
      {searching && xterm && (
        <SearchBar
          terminal={xterm}
          onClose={() => {
            onSearch(false);
            xterm.focus();
          }}
        />
      )}
      <div className="terminal-note" role="status">
        {why && <p>{why}</p>}
        {state.kind === "ended" && (
          <Button onClick={() => session.current?.reopen()}>{t.terminal.again}</Button>
        )}
      </div>
      <div className="terminal-box" ref={box} />
      <span className="unseen" tabIndex={-1} ref={after}>
        {t.terminal.left}
      </span>
      <KeyRow
        onKey={(keys) => {
          session.current?.type(keys);
          xterm?.focus();
        }}
      />
    </section>
  );
}
