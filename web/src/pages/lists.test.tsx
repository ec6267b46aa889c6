/** What every list does: it says that it loads, that there is nothing, and what the server said when it refused. */

import { screen, waitFor } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { server } from "@/testing/server";
import { hold, REQUEST_ID, refuse } from "../../mock-api/api";
import { template, version, workspace } from "../../mock-api/samples";
import type { World } from "../../mock-api/world";

const docker = template({ name: "docker" });

interface List {
  address: string;
  path: Parameters<typeof refuse<"get">>[1];
  /** What stands where the rows would, or the one row that there always is. */
  nothing: string;
  world?: Partial<World>;
}

const LISTS: Record<string, List> = {
  workspaces: {
    address: "/workspaces",
    path: "/workspaces",
    nothing: "No workspace yet",
    world: { templates: [docker] },
  },
  "templates to choose from": { address: "/workspaces/new", path: "/templates", nothing: "No template yet" },
  templates: { address: "/templates", path: "/templates", nothing: "No template yet" },
  "versions of a template": {
    address: "/templates/docker/versions",
    path: "/templates/{template}/versions",
    nothing: "sunny_lovelace4",
    world: {
      templates: [docker],
      versions: [version({ template_id: docker.id, id: docker.active_version_id })],
    },
  },
  builds: {
    address: "/@ada/api-server?panel=builds",
    path: "/workspaces/{workspace}/builds",
    nothing: "Build 1",
    world: { workspaces: [workspace({ name: "api-server" })] },
  },
  "parameters of a workspace": {
    address: "/@ada/api-server?panel=parameters",
    path: "/templateversions/{templateversion}/rich-parameters",
    nothing: "The template has no parameters.",
    world: { workspaces: [workspace({ name: "api-server" })] },
  },
  tokens: { address: "/settings/tokens", path: "/users/{user}/keys/tokens", nothing: "No token yet" },
  "kinds of notification": {
    address: "/settings/notifications",
    path: "/notifications/templates/system",
    nothing: "The server sends no notifications.",
  },
  users: { address: "/admin/users", path: "/users", nothing: "1 user" },
  members: {
    address: "/admin/members",
    path: "/organizations/{organization}/paginated-members",
    nothing: "No members",
  },
  provisioners: {
    address: "/admin/provisioners",
    path: "/organizations/{organization}/provisionerdaemons",
    nothing: "No provisioner",
  },
  jobs: { address: "/admin/jobs", path: "/organizations/{organization}/provisionerjobs", nothing: "No jobs" },
  "audit log": { address: "/admin/audit", path: "/audit", nothing: "Nothing is recorded yet" },
};

describe.each(Object.entries(LISTS))("the list of %s", (_name, { address, path, nothing, world = {} }) => {
  test("loads, and says when there is nothing", async () => {
    const { handler, release } = hold("get", path);
    await mount(address, { world, but: [handler] });
    await screen.findByText("Loading…");
    expect(screen.queryByText(nothing)).toBeNull();
    release();
    await screen.findByText(nothing);
    expect(screen.queryByText("Loading…")).toBeNull();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("says what the server said, under which id, and tries again", async () => {
    const { api, user } = await mount(address, {
      world,
      but: [
        refuse("get", path, 500, { message: "The database does not answer.", detail: "connection refused" }),
      ],
    });
    const note = (await screen.findByText("The database does not answer.")).closest("[role=alert]");
    expect(note?.textContent).toContain("connection refused");
    expect(note?.textContent).toContain(`Request ${REQUEST_ID}`);
    expect(screen.queryByText(nothing)).toBeNull();
    server.resetHandlers(...api.handlers);
    await user.click(screen.getByText("Try again"));
    await screen.findByText(nothing);
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
  });
});
