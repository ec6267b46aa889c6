import { expect, test } from "vitest";
import type { ProvisionerJob } from "@/api/types";
import { canCancelJob, subjectOf } from "./jobs";
import { release } from "./version";

const job = (more: object) =>
  ({
    type: "workspace_build",
    status: "running",
    input: { workspace_build_id: "b" },
    ...more,
  }) as ProvisionerJob;

test("only what goes on can be canceled, by those who may change its subject", () => {
  const may = { workspaces: true, templates: false };
  for (const [status, can] of [
    ["pending", true],
    ["running", true],
    ["canceling", "canceling"],
    ["succeeded", "ended"],
    ["failed", "ended"],
  ] as const) {
    expect(canCancelJob(job({ status }), may), status).toBe(can);
  }
  expect(canCancelJob(job({ type: "template_version_import" }), may)).toBe("mayNot");
  expect(canCancelJob(job({ type: "template_version_dry_run" }), { ...may, templates: true })).toBe(true);
});

test("a job leads to what it works on", () => {
  expect(subjectOf(job({}))).toEqual({ kind: "build", id: "b" });
  expect(subjectOf(job({ type: "template_version_import", input: { template_version_id: "v" } }))).toEqual({
    kind: "version",
    id: "v",
  });
  expect(subjectOf(job({ input: {} }))).toBeUndefined();
});

test("versions are compared without their patch", () => {
  expect(release("v2.24.1+abc")).toBe(release("v2.24.7"));
  expect(release("v2.24.1")).not.toBe(release("v2.25.1"));
});
