/** A terminal. Loaded only when one is opened: it is by far the largest part of the UI. */

import { useQuery } from "@tanstack/react-query";
import { FitAddon } from "@xterm/addon-fit";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type ITheme, Terminal as Xterm } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";
import { appearanceQuery } from "@/api/accountQueries";
import { useT } from "@/i18n";
import { terminalFontFamily } from "@/lib/terminalFont";
import { useShownTheme } from "@/lib/theme";
import { Button } from "../Button";
import { openStrictly, strictDocument } from "./csp";
import { KeyRow } from "./KeyRow";
import { Session, type SessionState } from "./session";
import "@xterm/xterm/css/xterm.css";
import "./terminal.css";

const SCROLLBACK = 10_000;
const FONT_PX = 13;
/** The sixteen colours, as xterm.js names them, in the order of the tokens. */
const ANSI_NAMES = ["", "bright"].flatMap((prefix) =>
  ["Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White"].map((name) =>
    prefix ? prefix + name : name.toLowerCase(),
  ),
);

/** Colours of the tokens, in the form that xterm.js takes. */
function colors(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const color = (name: string): string => {
    if (!context) return "#808080";
    context.fillStyle = style.getPropertyValue(name);
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  };
  return {
    background: color("--term-bg"),
    foreground: color("--term-fg"),
    cursor: color("--term-fg"),
    cursorAccent: color("--term-bg"),
    selectionBackground: color("--n6"),
    ...Object.fromEntries(ANSI_NAMES.map((name, at) => [name, color(`--ansi-${at}`)])),
  };
}

const usualFont = () => getComputedStyle(document.documentElement).getPropertyValue("--mono");

interface Props {
  agent: { id: string; name: string };
  id: string;
}

export function Terminal({ agent, id }: Props) {
  const t = useT();
  const shown = useShownTheme();
  const font = useQuery(appearanceQuery).data?.terminal_font;
  const box = useRef<HTMLDivElement>(null);
  const fit = useRef<FitAddon>(undefined);
  const xterm = useRef<Xterm>(undefined);
  const session = useRef<Session>(undefined);
  const [state, setState] = useState<SessionState>({ kind: "connecting" });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the language or font does not make a new terminal
  useEffect(() => {
    const container = box.current;
    if (!container) return;
    const term = new Xterm({
      documentOverride: strictDocument,
      fontFamily: terminalFontFamily(font, usualFont()),
      fontSize: FONT_PX,
      scrollback: SCROLLBACK,
      cursorBlink: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      minimumContrastRatio: 4.5,
      theme: colors(),
    });
    const fitter = new FitAddon();
    term.loadAddon(fitter);
    term.loadAddon(new WebLinksAddon((_event, uri) => window.open(uri, "_blank", "noopener,noreferrer")));
    openStrictly(() => term.open(container));
    term.textarea?.setAttribute("aria-label", t.terminal.label(agent.name));
    fitter.fit();
    const live = new Session({
      agent: agent.id,
      id,
      size: () => ({ cols: term.cols, rows: term.rows }),
      onData: (data) => term.write(data),
      onReplay: () => term.reset(),
      onState: setState,
    });
    term.onData((data) => live.type(data));
    term.onBinary((data) => live.type(data));
    term.onResize((size) => live.resize(size));
    const observer = new ResizeObserver(() => fitter.fit());
    observer.observe(container);
    term.focus();
    container.parentElement?.scrollIntoView({ block: "nearest" });
    xterm.current = term;
    fit.current = fitter;
    session.current = live;
    return () => {
      observer.disconnect();
      live.close();
      term.dispose();
    };
  }, [agent.id, id]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the tokens change with the theme
  useEffect(() => {
    if (xterm.current) xterm.current.options.theme = colors();
  }, [shown]);

  useEffect(() => {
    if (!xterm.current) return;
    xterm.current.options.fontFamily = terminalFontFamily(font, usualFont());
    fit.current?.fit();
  }, [font]);

  const said = {
    connecting: t.terminal.connecting,
    connected: "",
    lost: t.terminal.lost,
    ended: t.terminal.ended,
    signedOut: t.terminal.signedOut,
    away: state.kind === "away" ? t.terminal.agentAway(t.workspace.agentStatus[state.status]) : "",
  }[state.kind];
  return (
    <section className="terminal" aria-label={t.terminal.label(agent.name)} data-state={state.kind}>
      <div className="terminal-note" role="status">
        {said && <p>{said}</p>}
        {state.kind === "ended" && (
          <Button onClick={() => session.current?.reopen()}>{t.terminal.again}</Button>
        )}
      </div>
      <div className="terminal-box" ref={box} />
      <KeyRow
        onKey={(keys) => {
          session.current?.type(keys);
          xterm.current?.focus();
        }}
      />
    </section>
  );
}
