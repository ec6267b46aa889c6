import { defineConfig } from "vitest/config";

/** The tests that need a server and a browser: one after another, and slow where builds are. */
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    fileParallelism: false,
    // Each step stands on the one before.
    bail: 1,
    // Pages under test share their processors with the server, the database and Terraform.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
