/** A whole deployment to test or to work against: its world, the handlers that answer from it, and its streams. */

import type { RequestHandler, WebSocketHandler } from "msw";
import type { Workspace } from "@/api/types";
import { GONE, stream } from "./api";
import { accountHandlers } from "./handlers/account";
import { adminHandlers } from "./handlers/admin";
import { sessionHandlers } from "./handlers/session";
import { templateHandlers } from "./handlers/templates";
import { workspaceHandlers } from "./handlers/workspaces";
import { emptyWorld, type World } from "./world";

/** The streams that pages follow. Each stays open and says what it is told to. */
const makeStreams = (world: World) => ({
  list: stream("/workspaces/watch-ws", (send) =>
    // The server begins with an empty one: from there on nothing is missed.
    send({ type: "data", data: { changed: [], gone: [], stages: [] } }),
  ),
  workspace: stream("/workspaces/{workspace}/watch-ws", (send, { workspace }) => {
    const data = world.workspaces.find((each) => each.id === workspace);
    if (data) send({ type: "data", data });
  }),
  metadata: stream("/workspaceagents/{workspaceagent}/watch-metadata-ws", (send) =>
    send({ type: "data", data: [] }),
  ),
  buildLog: stream("/workspacebuilds/{workspacebuild}/logs", (send) => send(world.buildLog)),
  agentLog: stream("/workspaceagents/{workspaceagent}/logs", (send) => send(world.agentLog)),
  importLog: stream("/templateversions/{templateversion}/logs", (send) => send(world.buildLog)),
  inbox: stream("/notifications/inbox/watch"),
});

export interface Deployment {
  world: World;
  streams: ReturnType<typeof makeStreams>;
  handlers: (RequestHandler | WebSocketHandler)[];
  /** Changes a workspace, and tells those who follow it. */
  put: (news: Workspace) => void;
  /** The server goes away, with all its streams, or is back. */
  setAway: (away: boolean) => void;
}

/** A deployment that holds what is given, and else nothing; `onBuild` hears of each build that is made. */
export function deployment(
  over: Partial<World> = {},
  onBuild: (news: Workspace) => void = () => undefined,
): Deployment {
  const world = { ...emptyWorld(), ...over };
  const streams = makeStreams(world);
  return {
    world,
    streams,
    handlers: [
      ...Object.values(streams).map(({ handler }) => handler),
      ...sessionHandlers(world),
      ...adminHandlers(world),
      ...accountHandlers(world),
      ...templateHandlers(world),
      ...workspaceHandlers(world, onBuild),
    ],
    put(news) {
      world.workspaces = world.workspaces.map((each) => (each.id === news.id ? news : each));
      streams.list.send({ type: "data", data: { changed: [news], gone: [], stages: [] } });
      streams.workspace.send({ type: "data", data: news }, { workspace: news.id });
    },
    setAway(away) {
      for (const each of Object.values(streams)) {
        each.setAway(away);
        if (away) each.close(GONE);
      }
    },
  };
}
