/** A terminal in a workspace over the reconnecting WebSocket. Knows nothing of how it is drawn. */

import { connection } from "@/api/connection";
import { agents } from "@/api/endpoints";
import { ApiError, isStatus } from "@/api/errors";
import type { WorkspaceAgent } from "@/api/types";
import { socketUrl, urls } from "@/api/urls";

export type SessionState =
  | { kind: "connecting" | "connected" | "lost" | "ended" | "signedOut" }
  | { kind: "away"; status: WorkspaceAgent["status"] };

interface Size {
  cols: number;
  rows: number;
}

export interface SessionOptions {
  agent: string;
  /** Names the terminal, so that a new connection finds it again. */
  id: string;
  /** Run in place of the shell. */
  command?: string | undefined;
  size: () => Size;
  onData: (data: Uint8Array) => void;
  /** The agent is about to send again what was on the screen. */
  onReplay: () => void;
  onState: (state: SessionState) => void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8000;
/** A server that shuts down ends connections in order too; so long after, one knows that it was that. */
const ORDERLY_PAUSE_MS = 1000;

export class Session {
  private socket: WebSocket | undefined;
  private timer: number | undefined;
  private failures = 0;
  private closed = false;

  constructor(private readonly options: SessionOptions) {
    this.connect();
  }

  type(data: string) {
    this.send({ data });
  }

  resize({ cols, rows }: Size) {
    this.send({ height: rows, width: cols });
  }

  /** Connects again after the end: to a new program, or to the old one should it live after all. */
  reopen() {
    this.options.onState({ kind: "connecting" });
    this.connect();
  }

  close() {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.socket?.close();
  }

  private send(message: { data?: string; height?: number; width?: number }) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private connect() {
    const { agent, id, command, size, onData, onReplay, onState } = this.options;
    const { cols, rows } = size();
    const socket = new WebSocket(socketUrl(urls.terminal(agent, id, cols, rows, command)));
    socket.binaryType = "arraybuffer";
    let opened = false;
    socket.onopen = () => {
      opened = true;
      onReplay();
      onState({ kind: "connected" });
      this.resize(size());
    };
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      this.failures = 0;
      onData(
        typeof event.data === "string" ? new TextEncoder().encode(event.data) : new Uint8Array(event.data),
      );
    };
    socket.onclose = (event) => {
      this.socket = undefined;
      if (!this.closed) void this.explain(opened && event.code === 1000);
    };
    this.socket = socket;
  }

  /** Says why the connection is gone: a browser does not tell, but the API does. */
  private async explain(orderly: boolean) {
    const { agent, onState } = this.options;
    try {
      if (orderly) await new Promise((resolve) => setTimeout(resolve, ORDERLY_PAUSE_MS));
      const { status } = await agents.get(agent);
      if (this.closed) return;
      if (status !== "connected") onState({ kind: "away", status });
      else if (orderly && !connection.get().lost) return onState({ kind: "ended" });
      else onState({ kind: "lost" });
    } catch (error) {
      if (this.closed) return;
      if (isStatus(error, 401)) return onState({ kind: "signedOut" });
      // An agent that is gone belongs to a build that is not the latest any more: the page shows the new one.
      if (error instanceof ApiError && !error.unreachable) return onState({ kind: "ended" });
      onState({ kind: "lost" });
    }
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.failures);
    this.failures += 1;
    this.timer = window.setTimeout(() => this.connect(), pause);
  }
}
