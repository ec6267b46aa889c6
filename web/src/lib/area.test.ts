import { expect, test } from "vitest";
import { areaOf } from "./area";

test("every address belongs to the entry under which one looks for it", () => {
  for (const [pathname, area] of [
    ["/workspaces", "workspaces"],
    ["/workspaces/new", "workspaces"],
    ["/@owner/api", "workspaces"],
    ["/@owner/api/terminal", "workspaces"],
    ["/templates/local/workspace", "workspaces"],
    ["/templates", "templates"],
    ["/templates/new", "templates"],
    ["/templates/workspace", "templates"],
    ["/templates/local/versions/one/edit", "templates"],
    ["/admin/users", "admin"],
    ["/settings/account", "account"],
    ["/workspaces-of-mine", undefined],
    ["/login", undefined],
  ] as const) {
    expect([pathname, areaOf(pathname)]).toEqual([pathname, area]);
  }
});
