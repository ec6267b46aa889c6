/** The page of a workspace: what its streams change, what one may not do and why, and what is asked before it is gone. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { server } from "@/testing/server";
import { ENDED, GONE, hold, http, REQUEST_ID, refuse } from "../../../mock-api/api";
import {
  agent,
  ago,
  build,
  job,
  parameter,
  rebuilt,
  resource,
  user,
  version,
  workspace,
} from "../../../mock-api/samples";

const running = workspace({ name: "api-server" });
const GRACE = user({ username: "grace" });
const LOG = "/@ada/api-server?panel=log";
const SETTINGS = "/@ada/api-server?panel=settings";

const head = () => within(document.querySelector(".workspace-head") as HTMLElement);
const isOff = (element: HTMLElement) =>
  element.closest("button, [role=menuitem]")?.getAttribute("aria-disabled");

describe("the page", () => {
  test("loads, and says when there is no such workspace", async () => {
    const { handler, release } = hold("get", "/users/{user}/workspace/{workspacename}");
    await mount("/@ada/gone", { but: [handler] });
    await screen.findByText("Loading…");
    release();
    await screen.findByText("There is nothing at this address");
  });

  test("says what the server said, and tries again", async () => {
    const { api, user } = await mount(SETTINGS, {
      world: { workspaces: [running] },
      but: [
        refuse("get", "/users/{user}/workspace/{workspacename}", 500, {
          message: "The database does not answer.",
        }),
      ],
    });
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain(REQUEST_ID);
    server.resetHandlers(...api.handlers);
    await user.click(screen.getByText("Try again"));
    await screen.findByText("Delete the workspace");
  });

  test("follows what happens to the workspace", async () => {
    const { api } = await mount(SETTINGS, { world: { workspaces: [running] } });
    await screen.findByText("Delete the workspace");
    await waitFor(() => expect(api.streams.workspace.size).toBe(1));
    head().getByText("Running");
    const stopping = rebuilt(running, "stopping");
    api.put(stopping);
    await waitFor(() => head().getByText("Stopping"));
    head().getByText("Cancel build");
    api.put(rebuilt(stopping, "stopped"));
    await waitFor(() => head().getByText("Start"));
    expect(document.title).toBe("api-server · Stopped · Coder");
  });

  test("takes up its stream where it broke", async () => {
    const { api } = await mount(SETTINGS, { world: { workspaces: [running] } });
    await screen.findByText("Delete the workspace");
    await waitFor(() => expect(api.streams.workspace.size).toBe(1));
    api.streams.workspace.close(GONE);
    await screen.findByText("The connection to the server is lost. Trying again…");
    // What happens meanwhile is what the new stream begins with.
    api.world.workspaces = [
      rebuilt(running, "failed", { job: job("failed", { error: "no space left on device" }) }),
    ];
    await screen.findByText("no space left on device", { exact: false });
    head().getByText("Failed");
  });

  test("shows what an agent measures, as it comes", async () => {
    const main = agent();
    const measured = workspace({
      name: "api-server",
      latest_build: build("running", { resources: [resource({ agents: [main] })] }),
    });
    const { api } = await mount(SETTINGS, { world: { workspaces: [measured] } });
    await screen.findByText("Delete the workspace");
    await waitFor(() => expect(api.streams.metadata.size).toBe(1));
    const cpu = (value: string, error = "") => ({
      description: { key: "cpu", display_name: "CPU", script: "coder stat cpu", interval: 10, timeout: 1 },
      result: { value, error, age: 0, collected_at: ago(0) },
    });
    api.streams.metadata.send({ type: "data", data: [cpu("12 %")] }, { workspaceagent: main.id });
    await screen.findByText("12 %");
    api.streams.metadata.send({ type: "data", data: [cpu("97 %")] });
    await screen.findByText("97 %");
    expect(screen.queryByText("12 %")).toBeNull();
  });
});

describe("the log", () => {
  const line = (id: number, output: string, stage = "Planning Infrastructure") => ({
    id,
    output,
    stage,
    created_at: ago(1),
    log_level: "info" as const,
    log_source: "provisioner" as const,
  });

  test("grows, says that it is interrupted, goes on where it ended, and ends", async () => {
    const asked: (string | null)[] = [];
    const building = rebuilt(running, "starting");
    const { api } = await mount(LOG, { world: { workspaces: [building] } });
    await waitFor(() => expect(api.streams.buildLog.size).toBe(1));
    asked.push(...api.streams.buildLog.queries("after"));
    await screen.findByText("Nothing has been written yet.");
    api.streams.buildLog.send([line(1, "")]);
    api.streams.buildLog.send([line(2, "docker_container.workspace: Creating...")]);
    await screen.findByText("2 lines", { exact: false });
    api.streams.buildLog.close(GONE);
    await screen.findByText("interrupted, connecting again");
    await waitFor(() => expect(api.streams.buildLog.size).toBe(1));
    expect(api.streams.buildLog.queries("after")).toEqual(["2"]);
    // A line that has come before is not there twice.
    api.streams.buildLog.send([line(2, "docker_container.workspace: Creating...")]);
    api.streams.buildLog.send([line(3, "Apply complete!")]);
    await screen.findByText("3 lines", { exact: false });
    api.streams.buildLog.close(ENDED);
    await waitFor(() => expect(screen.queryByText("live")).toBeNull());
    expect(screen.queryByText("interrupted, connecting again")).toBeNull();
  });

  test("of a build that wrote nothing says so", async () => {
    const { api } = await mount(LOG, { language: "fr", world: { workspaces: [running] } });
    await waitFor(() => expect(api.streams.buildLog.size).toBe(1));
    api.streams.buildLog.close(ENDED);
    await screen.findByText("Rien n’a été écrit.");
  });
});

describe("whoever may only look", () => {
  const hers = workspace({ name: "api-server", owner: GRACE });
  const looking = { workspaces: [hers], may: () => false };

  test("is told whose it is, and why buttons are off", async () => {
    const { user, api } = await mount("/@grace/api-server?panel=settings", { world: looking });
    await screen.findByText(/grace/, { selector: ".note p" });
    await waitFor(() => expect(isOff(head().getByText("Stop"))).toBe("true"));
    await user.click(head().getByText("Stop"));
    expect((await screen.findAllByText("You may not do this with this workspace.")).length).toBeGreaterThan(
      0,
    );
    expect(api.world.workspaces[0]?.latest_build.status).toBe("running");
    expect(head().queryByText("+1 h")).toBeNull();
  });

  test("finds in the menu what is off, with the reason", async () => {
    const { user } = await mount("/@grace/api-server?panel=settings", { world: looking });
    await screen.findByText("Delete the workspace");
    await waitFor(() => expect(isOff(head().getByText("Stop"))).toBe("true"));
    await user.click(head().getByLabelText("More actions"));
    const item = (await screen.findAllByRole("menuitem")).find((each) =>
      each.textContent?.startsWith("Delete"),
    );
    expect(item?.getAttribute("aria-disabled")).toBe("true");
    expect(item?.textContent).toContain("You may not do this with this workspace.");
    expect(screen.queryByText("Add to favorites")).toBeNull();
  });
});

test("a button that is switched off under the focus keeps it, so that its reason can be read", async () => {
  const { handler, release } = hold("post", "/authcheck");
  await mount(SETTINGS, { world: { workspaces: [running], may: () => false }, but: [handler] });
  await screen.findByText("Delete the workspace");
  head().getByText("Stop").focus();
  release();
  await waitFor(() => expect(isOff(head().getByText("Stop"))).toBe("true"));
  expect(document.activeElement?.textContent).toBe("Stop");
});

test("a build that the template does not let its users cancel says so", async () => {
  const { user } = await mount(SETTINGS, {
    world: {
      workspaces: [
        workspace({
          name: "api-server",
          status: "starting",
          template_allow_user_cancel_workspace_jobs: false,
        }),
      ],
      may: ({ object }) => object.resource_type !== "template",
    },
  });
  await waitFor(() => expect(isOff(screen.getByText("Cancel build"))).toBe("true"));
  await user.hover(screen.getByText("Cancel build"));
  expect(
    (await screen.findAllByText("The template does not let its users cancel builds.")).length,
  ).toBeGreaterThan(0);
});

test("a refused start leaves it stopped, and says why", async () => {
  const { user } = await mount(SETTINGS, {
    world: { workspaces: [workspace({ name: "api-server", status: "stopped" })] },
    but: [
      refuse("post", "/workspaces/{workspace}/builds", 403, {
        message: "Insufficient quota.",
        detail: "It needs 4 credits, and 1 is left.",
      }),
    ],
  });
  await screen.findByText("Delete the workspace");
  await user.click(head().getByText("Start"));
  const note = await head().findByRole("alert");
  expect(note.textContent).toContain("Insufficient quota.");
  expect(note.textContent).toContain("It needs 4 credits, and 1 is left.");
  head().getByText("Stopped");
});

test("a favorite is one at once, and none again when the server refuses", async () => {
  const { handler, release } = hold("put", "/workspaces/{workspace}/favorite");
  const { user } = await mount(SETTINGS, {
    world: { workspaces: [running] },
    but: [
      handler,
      refuse("put", "/workspaces/{workspace}/favorite", 500, { message: "No room for favorites." }),
    ],
  });
  await screen.findByText("Delete the workspace");
  await user.click(head().getByLabelText("More actions"));
  await user.click(await screen.findByText("Add to favorites"));
  await head().findByLabelText("Favorite");
  release();
  await screen.findByText("No room for favorites.");
  expect(head().queryByLabelText("Favorite")).toBeNull();
});

describe("deleting", () => {
  async function ask(but: Parameters<typeof mount>[1] = {}) {
    const mounted = await mount(SETTINGS, { world: { workspaces: [running] }, ...but });
    await mounted.user.click(await screen.findByText("Delete workspace…"));
    const dialog = within(await screen.findByRole("dialog"));
    return { ...mounted, dialog, field: dialog.getByLabelText("Type “api-server” to confirm") };
  }

  test("takes the name, and nothing but the name", async () => {
    const { user, dialog, field, api, at } = await ask();
    dialog.getByText("docker_container");
    await user.type(field, "api-serve{Enter}");
    expect(api.world.workspaces[0]?.latest_build.transition).toBe("start");
    await user.type(field, "r{Enter}");
    await waitFor(() => expect(at()).toBe("/workspaces"));
    expect(api.world.workspaces[0]?.latest_build.transition).toBe("delete");
    await screen.findByText("Deleting");
  });

  test("that is refused says why, and the dialog stays", async () => {
    const { user, dialog, field, at } = await ask({
      but: [
        refuse("post", "/workspaces/{workspace}/builds", 409, {
          message: "A workspace build is already active.",
        }),
      ],
    });
    await user.type(field, "api-server{Enter}");
    expect((await dialog.findByRole("alert")).textContent).toContain("A workspace build is already active.");
    expect(at()).toBe(SETTINGS);
    await user.click(dialog.getByText("Cancel"));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  test("without its resources is only for those who manage the template", async () => {
    const { dialog } = await ask({
      world: { workspaces: [running], may: ({ object }) => object.resource_type !== "template" },
    });
    expect(dialog.queryByRole("checkbox")).toBeNull();
  });
});

describe("settings", () => {
  test("a name that is taken is refused at its field", async () => {
    const { user, at } = await mount(SETTINGS, {
      world: { workspaces: [workspace({ name: "api-server", allow_renames: true })] },
      but: [
        refuse("patch", "/workspaces/{workspace}", 409, {
          message: "Workspace with name “data-lab” already exists.",
          validations: [{ field: "name", detail: "This value is already in use and should be unique." }],
        }),
      ],
    });
    const field = await screen.findByLabelText("Name");
    await user.clear(field);
    await user.type(field, "data-lab{Enter}");
    await screen.findByText("This name is already taken.");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(at()).toBe(SETTINGS);
  });

  test("automatic updates are off again when the server refuses them", async () => {
    const { user } = await mount(SETTINGS, {
      world: { workspaces: [running] },
      but: [refuse("put", "/workspaces/{workspace}/autoupdates", 500, { message: "Not now." })],
    });
    const box = (await screen.findByLabelText(
      "Every start takes the template’s active version",
    )) as HTMLInputElement;
    await user.click(box);
    await screen.findByText("Not now.");
    expect(box.checked).toBe(false);
  });
});

describe("parameters", () => {
  const size = parameter("size", { default_value: "small" });
  const zone = parameter("zone", { mutable: false });
  const world = {
    workspaces: [running],
    parameters: [size, zone],
    buildParameters: [
      { name: "size", value: "small" },
      { name: "zone", value: "eu" },
    ],
  };

  test("that cannot be changed are shown with the reason; the others are built with what changed", async () => {
    const bodies: unknown[] = [];
    const { user } = await mount("/@ada/api-server?panel=parameters", {
      world,
      but: [
        http.post("/workspaces/{workspace}/builds", async ({ request }) => {
          bodies.push(await request.clone().json());
          return undefined as never;
        }),
      ],
    });
    const field = await screen.findByLabelText("size");
    screen.getByText("eu");
    await user.clear(field);
    await user.type(field, "large{Enter}");
    await waitFor(() => expect(bodies).toHaveLength(1));
    expect(bodies[0]).toMatchObject({
      transition: "start",
      rich_parameter_values: [{ name: "size", value: "large" }],
    });
  });

  test("that the server refuses say so at their fields", async () => {
    const { user } = await mount("/@ada/api-server?panel=parameters", {
      world,
      but: [
        refuse("post", "/workspaces/{workspace}/builds", 400, {
          message: "Validation failed.",
          validations: [{ field: "size", detail: "huge is not sold here" }],
        }),
      ],
    });
    const field = await screen.findByLabelText("size");
    await user.type(field, "-huge{Enter}");
    await screen.findByText("huge is not sold here");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(screen.queryByText("Validation failed.")).toBeNull();
  });
});

test("a newer version is offered, though what changed cannot be told", async () => {
  const outdated = workspace({ name: "api-server", status: "stopped", outdated: true });
  await mount(SETTINGS, {
    world: { workspaces: [outdated], versions: [version({ id: outdated.template_active_version_id })] },
    but: [refuse("get", "/templates/{template}/versions", 404, { message: "Resource not found." })],
  });
  const note = (await screen.findByText("Update", { selector: ".note button" })).closest(".note");
  expect(note).not.toBeNull();
  expect(screen.queryByText("Resource not found.")).toBeNull();
});
