import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { compress } from "./build/compress.ts";
import { iconFiles } from "./build/icons.ts";

const dist = fileURLToPath(new URL("dist", import.meta.url));
const source = fileURLToPath(new URL("src", import.meta.url));
const server = process.env.CODER_DEV_SERVER ?? "http://127.0.0.1:3000";
/** The server only compares cookie and header, so while developing any value does. */
const DEV_CSRF = "0".repeat(32);

/** Does what the server does with the page's marks when it is the server that serves it. */
function devMarks(): Plugin {
  return {
    name: "dev-marks",
    apply: "serve",
    transformIndexHtml: (html) => html.replaceAll("@CSRF_TOKEN@", DEV_CSRF).replaceAll("@CSP_NONCE@", ""),
  };
}

export default defineConfig({
  plugins: [react(), devMarks(), iconFiles(), compress(dist)],
  resolve: {
    alias: [
      { find: /^@(?=\/)/, replacement: source },
      // A lighter one: see there.
      { find: /^\.\.\/createLucideIcon\.mjs$/, replacement: `${source}/ui/createIcon.ts` },
    ],
  },
  html: { cspNonce: "@CSP_NONCE@" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What many pages share is one file, not one for each set of pages: fewer requests, and it packs better. So are
        // the addresses of all pages, and the list of workspaces: the first load is seven files.
        codeSplitting: {
          groups: [
            { name: "routes", test: /src\/(routes|lib\/(address|nonce)|i18n\/(area|plural))/, priority: 3 },
            { name: "list", test: /src\/pages\/workspaces\//, priority: 2 },
            // The texts of an area are for its pages alone.
            { name: "admin", test: /src\/i18n\/(en|fr)\/admin/, priority: 2 },
            { name: "editor", test: /src\/i18n\/(en|fr)\/editor/, priority: 2 },
            { name: "shared", minShareCount: 12 },
          ],
        },
      },
    },
  },
  test: {
    // Not one fewer, as is usual: on two processors that is half.
    maxWorkers: "100%",
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["src/**/*.test.ts", "build/**/*.test.ts"], isolate: false },
      },
      // Only what draws something pays for a document to draw in.
      {
        extends: true,
        test: {
          name: "components",
          include: ["src/**/*.test.tsx"],
          testTimeout: 20_000,
          environment: "jsdom",
          setupFiles: ["src/testing/setup.ts"],
          // What the pages stand on is loaded once for all files of a worker, not for each.
          isolate: false,
        },
      },
    ],
  },
  server: {
    headers: { "Set-Cookie": `csrf_token=${DEV_CSRF}; Path=/; SameSite=Lax` },
    proxy: { "/api": { target: server, ws: true }, "/icon": server },
  },
});
