import { defineConfig } from "vitest/config";

/** The tests that need a server and a browser: each file has its own, and two run at once. */
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    maxWorkers: 2,
    // Each step stands on the one before.
    bail: 1,
    // Pages under test share their processors with the server, the database and Terraform.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
