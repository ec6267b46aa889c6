import { expect, test } from "vitest";
import type { HealthReport } from "@/api/types";
import { sectionsOf } from "./health";

const part = { severity: "ok", dismissed: false, warnings: [] };
const report = (more: object) =>
  ({
    access_url: part,
    websocket: part,
    database: part,
    workspace_proxy: part,
    derp: part,
    provisioner_daemons: { ...part, items: [] },
    ...more,
  }) as unknown as HealthReport;

const section = (key: string, more: object) =>
  sectionsOf(report({ [key]: { ...part, ...more } })).find((each) => each.key === key);

test("an error stands before the warnings, with its code apart", () => {
  expect(
    section("access_url", {
      severity: "error",
      error: "EACS03: get /healthz: refused",
      warnings: [{ code: "EACS04", message: "answered 502" }],
    })?.problems,
  ).toEqual([
    { code: "EACS03", message: "get /healthz: refused", error: true },
    { code: "EACS04", message: "answered 502", error: false },
  ]);
  expect(section("database", { error: "no code: here" })?.problems[0]?.code).toBe("");
});

test("what one provisioner warns of is told with its name", () => {
  const items = [
    { provisioner_daemon: { name: "vm-0" }, warnings: [{ code: "EPD02", message: "old" }] },
    { provisioner_daemon: { name: "vm-1" }, warnings: [] },
  ];
  expect(section("provisioner_daemons", { items })?.problems).toEqual([
    { code: "EPD02", message: "vm-0: old", error: false },
  ]);
});
