/** Logs of builds and agents as they grow: lines in batches, each converted once. */

import { useEffect, useMemo, useSyncExternalStore } from "react";
import { openStream } from "./streams";
import type { LogLevel, ProvisionerJobLog, WorkspaceAgentLog } from "./types";
import { urls } from "./urls";

export interface LogLine {
  id: number;
  at: string;
  level: LogLevel;
  text: string;
  /** The line begins a stage of the build. */
  heading?: boolean;
}

export interface Log {
  lines: readonly LogLine[];
  /** The indices of the lines that are errors. */
  errors: readonly number[];
  /** `live` while more may come. */
  state: "connecting" | "live" | "interrupted" | "ended";
}

/** Lines come faster than the eye: they are shown this often, the first ones at once. */
const SHOW_EVERY_MS = 60;
const NOTHING: Log = { lines: [], errors: [], state: "connecting" };

/** Goes through the new lines only: a log may have very many. */
export function withMore(log: Log, more: readonly LogLine[], state: Log["state"]): Log {
  const first = log.lines.length;
  const errors = more.flatMap((line, index) => (line.level === "error" ? [first + index] : []));
  return {
    lines: log.lines.concat(more),
    errors: errors.length > 0 ? log.errors.concat(errors) : log.errors,
    state,
  };
}

/** Follows one log. `read` turns a frame into lines, given the lines before. */
class Follower {
  private log = NOTHING;
  private pending: LogLine[] = [];
  private timer: number | undefined;
  /** When lines were shown last. */
  private shown = Number.NEGATIVE_INFINITY;
  private listeners = new Set<() => void>();
  private stop: (() => void) | undefined;

  constructor(
    private readonly url: (after: number) => string,
    private readonly read: (frame: string, last: LogLine | undefined) => LogLine[],
  ) {}

  start() {
    this.stop = openStream({
      url: () => this.url(this.last()?.id ?? 0),
      onMessage: (frame) => {
        this.pending.push(...this.read(frame, this.last()));
        const wait = Math.max(0, this.shown + SHOW_EVERY_MS - performance.now());
        this.timer ??= window.setTimeout(() => this.flush(), wait);
      },
      onLive: (live) => this.flush(live ? "live" : "interrupted"),
      onEnd: () => this.flush("ended"),
    });
  }

  end() {
    this.stop?.();
    window.clearTimeout(this.timer);
    this.timer = undefined;
  }

  get = () => this.log;

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  private last(): LogLine | undefined {
    return this.pending.at(-1) ?? this.log.lines.at(-1);
  }

  private flush(state = this.log.state) {
    window.clearTimeout(this.timer);
    this.timer = undefined;
    this.log = this.pending.length > 0 ? withMore(this.log, this.pending, state) : { ...this.log, state };
    if (this.pending.length > 0) this.shown = performance.now();
    this.pending = [];
    for (const listener of this.listeners) listener();
  }
}

/** A build's log says the stage with every line; an empty line begins one. */
export function readBuildLog(frame: string, last: LogLine | undefined): LogLine[] {
  const logs = JSON.parse(frame) as ProvisionerJobLog[];
  return logs
    .filter((log) => !last || log.id > last.id)
    .map((log) => {
      const heading = log.output === "";
      return {
        id: log.id,
        at: log.created_at,
        level: log.log_level,
        text: heading ? log.stage : log.output,
        ...(heading ? { heading } : {}),
      };
    });
}

export function readAgentLog(frame: string, last: LogLine | undefined): LogLine[] {
  const logs = JSON.parse(frame) as WorkspaceAgentLog[];
  return logs
    .filter((log) => !last || log.id > last.id)
    .map((log) => ({ id: log.id, at: log.created_at, level: log.level, text: log.output }));
}

function useFollower(follower: Follower): Log {
  useEffect(() => {
    follower.start();
    return () => follower.end();
  }, [follower]);
  return useSyncExternalStore(follower.subscribe, follower.get);
}

export function useBuildLog(build: string): Log {
  return useFollower(
    useMemo(() => new Follower((after) => urls.buildLogs(build, after), readBuildLog), [build]),
  );
}

export function useAgentLog(agent: string): Log {
  return useFollower(
    useMemo(() => new Follower((after) => urls.agentLogs(agent, after), readAgentLog), [agent]),
  );
}

/** The log of a template version's import. */
export function useImportLog(version: string): Log {
  return useFollower(
    useMemo(() => new Follower((after) => urls.templateVersionLogs(version, after), readBuildLog), [version]),
  );
}
