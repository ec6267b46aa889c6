import { defineConfig } from "vitest/config";

/**
 * The tests that need a server and a browser, one file after another: two at once take hardly less time on two processors,
 * and wait for each other so long that steps seem not to happen.
 */
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    fileParallelism: false,
    // Each step stands on the one before.
    bail: 1,
    // Pages under test share their processors with the server, the database and Terraform.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
