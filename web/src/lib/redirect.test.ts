import { expect, test } from "vitest";
import { urls } from "@/api/urls";
import { isPage, safeRedirect } from "./redirect";

test("a redirect stays on this site", () => {
  for (const [to, safe] of [
    ["/@me/dev?panel=log", "/@me/dev?panel=log"],
    ["//elsewhere.example", "/workspaces"],
    ["/\\elsewhere.example", "/workspaces"],
    ["https://elsewhere.example", "/workspaces"],
    ["javascript:alert(1)", "/workspaces"],
    [undefined, "/workspaces"],
  ] as const) {
    expect(safeRedirect(to)).toBe(safe);
  }
});

test("apps are the server's, workspaces ours", () => {
  expect(isPage(urls.app("me", "dev", "main", "code"))).toBe(false);
  expect(isPage("/@me/dev")).toBe(true);
});

test("what is put into an address is escaped", () => {
  expect(urls.workspaceByName("a/b", "x?y")).toBe("/api/v2/users/a%2Fb/workspace/x%3Fy?include_deleted=true");
  expect(urls.workspaces("name with spaces", 50, 0)).toBe(
    "/api/v2/workspaces?q=name+with+spaces&limit=50&offset=0",
  );
  expect(urls.buildLogs("b", 0)).toBe("/api/v2/workspacebuilds/b/logs?follow=true&batch=true");
});
