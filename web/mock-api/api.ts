/** What all handlers stand on: paths, bodies and answers as the API's description has them, refusals, and streams. */

import { HttpResponse, ws } from "msw";
import { createOpenApiHttp } from "openapi-msw";
import type { paths } from "@/api/schema";
import type {
  ErrorBody,
  InboxNews,
  ProvisionerJobLog,
  Workspace,
  WorkspaceAgentLog,
  WorkspaceAgentMetadata,
  WorkspaceListChanges,
} from "@/api/types";

const BASE = "/api/v2";

/** Handlers of requests. A path, method, status or body that the API does not have is a type error. */
export const http = createOpenApiHttp<paths>({ baseUrl: BASE });

/** The id of every refused request, as the server's log would know it. */
export const REQUEST_ID = "3d0f2c8e-5b1a-4f0e-9a57-6f1f0f6f8c11";

type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that a method has. */
type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path][M] extends { responses: unknown } ? Path : never;
}[keyof paths];

/** A path as msw writes it. */
const pattern = (path: string) => `${BASE}${path.replaceAll("{", ":").replaceAll("}", "")}`;

/** A handler that refuses as the server does: with its message, the fields that are wrong, and the request's id. */
export function refuse<M extends Method>(method: M, path: PathOf<M>, status: number, body: ErrorBody) {
  return http.untyped[method](pattern(path), () =>
    HttpResponse.json(body, { status, headers: { "X-Coder-Request-Id": REQUEST_ID } }),
  );
}

/** A handler whose answer comes from something that is not our server. */
export function answerAsProxy<M extends Method>(method: M, path: PathOf<M>, status: number, html: string) {
  return http.untyped[method](pattern(path), () => HttpResponse.html(html, { status }));
}

/** A handler behind which there is no server. */
export function disconnect<M extends Method>(method: M, path: PathOf<M>) {
  return http.untyped[method](pattern(path), () => HttpResponse.error());
}

/** A handler that answers nothing until it is told to; then the next one answers. */
export function hold<M extends Method>(method: M, path: PathOf<M>) {
  let release: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handler = http.untyped[method](pattern(path), async () => {
    await promise;
    return undefined;
  });
  return { handler, release: () => release() };
}

/** An event of a stream that has envelopes (`ServerSentEvent`). */
export type Event<T> = { type: "data"; data: T } | { type: "ping" } | { type: "error"; data: ErrorBody };

/** The frames of each WebSocket, which `x-message` of the description says and the generated types leave out. */
export interface Frames {
  "/notifications/inbox/watch": InboxNews;
  "/templateversions/{templateversion}/logs": ProvisionerJobLog[];
  "/workspaceagents/{workspaceagent}/logs": WorkspaceAgentLog[];
  "/workspaceagents/{workspaceagent}/watch-metadata-ws": Event<WorkspaceAgentMetadata[]>;
  "/workspacebuilds/{workspacebuild}/logs": ProvisionerJobLog[];
  "/workspaces/watch-ws": Event<WorkspaceListChanges>;
  "/workspaces/{workspace}/watch-ws": Event<Workspace>;
}

/** The paths that the description answers with a WebSocket. */
type StreamPath = {
  [Path in keyof paths]: paths[Path] extends { get: { responses: { 101: unknown } } } ? Path : never;
}[keyof paths];

/** Codes with which a WebSocket ends: the server has no more to say, or is gone. */
export const ENDED = 1000;
export const GONE = 1006;

type Params = Readonly<Record<string, string>>;
type Client = { send: (data: string) => void; close: (code: number) => void };

/** A stream that stays open and says what it is told to. `onOpen` says what comes first. */
export function stream<Path extends keyof Frames & StreamPath>(
  path: Path,
  onOpen: (send: (frame: Frames[Path]) => void, params: Params) => void = () => undefined,
) {
  const open = new Set<{ client: Client; params: Params; url: URL }>();
  let away = false;
  let opened = 0;
  const write = (client: Client) => (frame: Frames[Path]) => client.send(JSON.stringify(frame));
  const handler = ws.link(`*${pattern(path)}`).addEventListener("connection", ({ client, params }) => {
    // A page that is drawn twice has given up the first one before the server would have heard of it.
    if ((client as typeof client & { socket: WebSocket }).socket.readyState > WebSocket.OPEN) return;
    if (away) {
      client.close(GONE);
      return;
    }
    const connection = { client, params: params as Params, url: client.url };
    open.add(connection);
    opened += 1;
    client.addEventListener("close", () => open.delete(connection));
    onOpen(write(client), connection.params);
  });
  const chosen = (params: Params) =>
    [...open].filter((each) => Object.entries(params).every(([key, value]) => each.params[key] === value));
  return {
    handler,
    /** How many have been opened so far. */
    get opened() {
      return opened;
    },
    /** How many are open. */
    get size() {
      return open.size;
    },
    /** What those that are open were asked with. */
    queries: (key: string) => [...open].map(({ url }) => url.searchParams.get(key)),
    /** Says it to all that follow, or to those of these parameters. */
    send(frame: Frames[Path], params: Params = {}) {
      for (const { client } of chosen(params)) write(client)(frame);
    },
    /** Ends all that are open. */
    close(code: number) {
      for (const connection of chosen({})) {
        open.delete(connection);
        connection.client.close(code);
      }
    },
    /** Whether the server is there to open one. */
    setAway(now: boolean) {
      away = now;
    },
  };
}
