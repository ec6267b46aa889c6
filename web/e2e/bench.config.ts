import { defineConfig } from "vitest/config";

/** The benchmark of the web UI: no test, and never run with them. `cargo xtask bench web` runs it. */
export default defineConfig({
  test: {
    include: ["e2e/bench.ts"],
    testTimeout: 15 * 60_000,
    hookTimeout: 5 * 60_000,
    disableConsoleIntercept: true,
    reporters: ["dot"],
  },
});
