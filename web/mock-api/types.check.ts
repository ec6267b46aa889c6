/** What must not compile: answers that the API does not give. `npm run check` tells when one of them does. */

import { http, refuse, stream } from "./api";
import { buildInfo, user } from "./samples";

/** Never called. */
export const wrong = () => [
  // @ts-expect-error there is no such path
  http.get("/workspace", () => undefined),
  // @ts-expect-error the path has no such method
  http.delete("/workspaces", () => undefined),
  // @ts-expect-error it is answered with 200
  http.get("/buildinfo", ({ response }) => response(201).json(buildInfo())),
  // @ts-expect-error it is answered with something else
  http.get("/buildinfo", ({ response }) => response(200).json(user())),
  // @ts-expect-error a refusal is no success
  http.get("/buildinfo", ({ response }) => response("default").json({ message: "" }, { status: 200 })),
  // @ts-expect-error the parameter has another name
  http.get("/users/{user}", ({ params, response }) => response(200).json(user({ id: params.id }))),
  // @ts-expect-error the path has no such method
  refuse("delete", "/buildinfo", 403, { message: "" }),
  // @ts-expect-error a refusal has a message
  refuse("get", "/buildinfo", 403, {}),
  // @ts-expect-error it is no stream
  stream("/buildinfo"),
  // @ts-expect-error it sends events
  () => stream("/workspaces/watch-ws").send({ changed: [], gone: [], stages: [] }),
];
