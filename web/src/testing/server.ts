/** Answers the requests of the page under test. `mount` gives it a deployment; `server.use` puts something over that. */

import { setupServer } from "msw/node";

export const server = setupServer();
