/** Starts the UI without a server: a service worker answers its requests from a mocked deployment. */

import { HttpResponse, http } from "msw";
import { setupWorker } from "msw/browser";
import { usual } from "./usual";

/** What nothing answers says so on the page, instead of with the page itself. */
const nothing = http.all("/api/v2/*", ({ request }) =>
  HttpResponse.json(
    { message: `The mock API has no answer to ${request.method} ${new URL(request.url).pathname}.` },
    { status: 501 },
  ),
);

const worker = setupWorker(...usual().handlers, nothing);
await worker.start({ quiet: true, onUnhandledRequest: "bypass" });
await import("../src/main");
