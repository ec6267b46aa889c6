/** The development server of the UI without a server behind it: `npm run dev:mock`. Nothing of it is in what is built. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig, type Plugin } from "vite";
import config from "../vite.config.ts";

const WORKER = "/mockServiceWorker.js";
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function mockApi(): Plugin {
  return {
    name: "mock-api",
    apply: "serve",
    // The requests stay in the browser.
    config: (merged) => {
      delete merged.server?.proxy;
    },
    configureServer: ({ middlewares }) => {
      middlewares.use(WORKER, async (_request, response) => {
        response.setHeader("Content-Type", "text/javascript");
        response.end(await readFile(file("../node_modules/msw/lib/mockServiceWorker.js")));
      });
    },
    transformIndexHtml: {
      order: "pre",
      handler: (html) => html.replace("/src/main.tsx", "/mock-api/browser.ts"),
    },
  };
}

export default defineConfig((env) => {
  if (env.command !== "serve") throw new Error("the mock API is for development only");
  return mergeConfig(config, { root: file(".."), plugins: [mockApi()] });
});
