/** WebSockets that open again by themselves. They carry what the API streams; what it means is not known here. */

import { connection } from "./connection";
import { deployment } from "./endpoints";
import { socketUrl } from "./urls";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Codes of a server that goes away, or is gone. */
const GONE = [1001, 1006, 1012];

export interface StreamOptions {
  /** Where to connect; asked again for every attempt, so that a stream can go on where it ended. */
  url: () => string;
  onMessage: (data: string) => void;
  /** The server has said that nothing more will come. */
  onEnd?: () => void;
  onLive?: (live: boolean) => void;
}

/** Opens a stream, and again whenever it breaks, until the returned function is called. */
export function openStream({ url, onMessage, onEnd, onLive }: StreamOptions): () => void {
  let socket: WebSocket | undefined;
  let timer: number | undefined;
  let failures = 0;
  let closed = false;

  const connect = () => {
    window.clearTimeout(timer);
    timer = undefined;
    if (closed) return;
    socket = new WebSocket(socketUrl(url()));
    let opened = false;
    socket.onopen = () => {
      opened = true;
      failures = 0;
      onLive?.(true);
    };
    socket.onmessage = (event: MessageEvent<string>) => onMessage(event.data);
    socket.onclose = (event) => {
      socket = undefined;
      if (closed) return;
      onLive?.(false);
      if (opened && GONE.includes(event.code)) connection.lost();
      // A browser does not tell a refusal from a server that is away; a request does, and says so to all.
      if (!opened) deployment.buildInfo().catch(() => undefined);
      if (event.code === 1000 && onEnd) {
        onEnd();
        return;
      }
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
      failures += 1;
      timer = window.setTimeout(connect, pause * (0.75 + Math.random() / 2));
    };
  };

  // When the server answers again, a stream need not wait any longer.
  const unsubscribe = connection.subscribe(() => {
    if (!connection.get().lost && timer !== undefined) connect();
  });
  connect();
  return () => {
    closed = true;
    unsubscribe();
    window.clearTimeout(timer);
    socket?.close();
  };
}

interface Envelope<T> {
  type: "ping" | "data" | "error";
  data?: T;
}

/** A stream of the API's envelopes (`…/watch-ws`); pings are left out. After an error the server closes it. */
export function openEvents<T>(path: string, onData: (data: T) => void, onError?: () => void): () => void {
  return openStream({
    url: () => path,
    onMessage: (text) => {
      const event = JSON.parse(text) as Envelope<T>;
      if (event.type === "data" && event.data !== undefined) onData(event.data);
      if (event.type === "error") onError?.();
    },
  });
}
