/** The list of workspaces: its rows as the stream changes them, what the server refuses, and several at once. */

import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { answerAsProxy, hold, http, REQUEST_ID, refuse } from "../../../mock-api/api";
import { rebuilt, template, user, workspace } from "../../../mock-api/samples";

const api = workspace({ name: "api-server" });
const data = workspace({ name: "data-lab", status: "stopped" });
const GRACE = user({ username: "grace" });

const row = async (name: string) => {
  const item = (await screen.findByText(name, { selector: ".row-name a" })).closest("li");
  if (!item) throw new Error("not in a row");
  return within(item);
};

test.each([
  ["en", 1, "1 workspace"],
  ["en", 2, "2 workspaces"],
  ["fr", 1, "1 espace de travail"],
  ["fr", 2, "2 espaces de travail"],
] as const)("counts in %s: %i", async (language, count, words) => {
  await mount("/workspaces", { language, world: { workspaces: [api, data].slice(0, count) } });
  await screen.findByText(words);
});

test("a thousand and more are counted as the language writes numbers", async () => {
  const list = http.get("/workspaces", ({ response }) =>
    response(200).json({ workspaces: [api], count: 1001 }),
  );
  await mount("/workspaces", { language: "fr", but: [list] });
  await row("api-server");
  const { textContent } = document.body;
  expect(textContent).toContain("1\u202f001 espaces de travail");
  expect(textContent).toContain("1–1\u202f000 sur 1\u202f001");
});

test("a long name is whole wherever it stands", async () => {
  const name = "a-name-of-thirty-two-characters0";
  await mount("/workspaces", { world: { workspaces: [workspace({ name })] } });
  const link = await screen.findByText(name);
  expect(link.getAttribute("href")).toBe(`/@ada/${name}`);
  expect(screen.getByLabelText(`Stop: ${name}`)).toBeTruthy();
});

test("the list is there though the templates are not", async () => {
  await mount("/workspaces", {
    world: { workspaces: [api] },
    but: [refuse("get", "/templates", 500, { message: "The database does not answer." })],
  });
  await row("api-server");
  expect(screen.getByText("New workspace").getAttribute("href")).toBe("/workspaces/new");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a search that the server does not understand is not followed", async () => {
  const { api: mocked } = await mount("/workspaces?filter=colour%3Ared", {
    but: [
      refuse("get", "/workspaces", 400, {
        message: "Invalid workspace search query.",
        validations: [{ field: "q", detail: "“colour” is not a key" }],
      }),
    ],
  });
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("Invalid workspace search query.");
  expect(note.textContent).toContain("q “colour” is not a key");
  await waitFor(() => expect(mocked.streams.list.size).toBe(0));
});

test("a search that finds nothing offers to clear it", async () => {
  const { user, at } = await mount("/workspaces?filter=nothing-like-it", { world: { workspaces: [api] } });
  await screen.findByText("Nothing was found for “nothing-like-it”.");
  await user.click(screen.getByText("Clear the search"));
  await row("api-server");
  expect(at()).toBe("/workspaces?filter=");
});

test("a row follows its build by the stream", async () => {
  const { api: mocked } = await mount("/workspaces", { world: { workspaces: [data] } });
  const { getByText, queryByText } = await row("data-lab");
  getByText("Stopped");
  await waitFor(() => expect(mocked.streams.list.size).toBe(1));
  const starting = rebuilt(data, "starting");
  mocked.put(starting);
  await waitFor(() => getByText("Starting"));
  expect(queryByText("Stopped")).toBeNull();
  const stages = [{ workspace_id: data.id, stage: "Planning Infrastructure" }];
  mocked.streams.list.send({ type: "data", data: { changed: [], gone: [], stages } });
  await waitFor(() => getByText(/^plan ·/));
  mocked.put(rebuilt(starting, "running"));
  await waitFor(() => getByText("Running"));
  expect(queryByText(/plan/)).toBeNull();
});

test("what is made or deleted elsewhere comes and goes by the stream", async () => {
  const { api: mocked } = await mount("/workspaces", { world: { workspaces: [api] } });
  await row("api-server");
  await waitFor(() => expect(mocked.streams.list.size).toBe(1));
  mocked.streams.list.send({ type: "data", data: { changed: [data], gone: [], stages: [] } });
  await row("data-lab");
  await screen.findByText("2 workspaces");
  mocked.streams.list.send({ type: "data", data: { changed: [], gone: [api.id], stages: [] } });
  await screen.findByText("1 workspace");
  expect(screen.queryByText("api-server")).toBeNull();
});

test("a favorite is one at once, and none again when the server refuses", async () => {
  const { handler, release } = hold("put", "/workspaces/{workspace}/favorite");
  const { user } = await mount("/workspaces", {
    world: { workspaces: [api] },
    but: [
      handler,
      refuse("put", "/workspaces/{workspace}/favorite", 500, { message: "No room for favorites." }),
    ],
  });
  const { getByLabelText, findByLabelText, queryByLabelText, findByRole } = await row("api-server");
  expect(queryByLabelText("Favorite")).toBeNull();
  await user.click(getByLabelText("More actions: api-server"));
  await user.click(await screen.findByText("Add to favorites"));
  await findByLabelText("Favorite");
  release();
  const note = await findByRole("alert");
  expect(note.textContent).toContain("No room for favorites.");
  expect(queryByLabelText("Favorite")).toBeNull();
});

test("a refused stop is said in its row, which stays as it was", async () => {
  const { user } = await mount("/workspaces", {
    world: { workspaces: [api, data] },
    but: [
      refuse("post", "/workspaces/{workspace}/builds", 409, {
        message: "A workspace build is already active.",
      }),
    ],
  });
  const first = await row("api-server");
  await user.click(first.getByLabelText("Stop: api-server"));
  const note = await first.findByRole("alert");
  expect(note.textContent).toContain("A workspace build is already active.");
  expect(note.textContent).toContain(REQUEST_ID);
  first.getByText("Running");
  expect((await row("data-lab")).queryByRole("alert")).toBeNull();
});

test("what cannot be done with a workspace says why", async () => {
  const { user } = await mount("/workspaces", { world: { workspaces: [data] } });
  const { getByLabelText } = await row("data-lab");
  await user.click(getByLabelText("More actions: data-lab"));
  const restart = await screen.findByRole("menuitem", { name: /^Restart/ });
  expect(restart.textContent).toBe("RestartThe workspace is stopped.");
  expect(restart.getAttribute("aria-disabled")).toBe("true");
});

test("of several, each is told how it went", async () => {
  const hers = workspace({ name: "hers", owner: GRACE });
  const { user } = await mount("/workspaces?filter=", {
    world: {
      workspaces: [api, data, hers],
      may: ({ object }) => object.resource_id !== hers.id,
    },
  });
  await row("api-server");
  await user.click(screen.getByLabelText("Select all"));
  screen.getByText("3 selected");
  await user.click(screen.getByText("Stop", { selector: ".bulk-actions button" }));
  await screen.findByText(/Stop: 1 queued, 2 skipped/);
  (await row("api-server")).getByText("Stopping");
  (await row("data-lab")).getByText("Skipped: The workspace is stopped.");
  (await row("hers")).getByText("Skipped: You may not do this with this workspace.");
});

test("deleting several asks for their number", async () => {
  const { user, api: mocked } = await mount("/workspaces", { world: { workspaces: [api, data] } });
  await row("api-server");
  await user.click(screen.getByLabelText("Select all"));
  await user.click(screen.getByText("Delete", { selector: ".bulk-actions button" }));
  const dialog = within(await screen.findByRole("dialog"));
  dialog.getByText("Delete 2 workspaces");
  dialog.getByText("ada/data-lab");
  const button = dialog.getByText("Delete", { selector: "button" });
  await user.type(dialog.getByLabelText("Type “2” to confirm"), "3{Enter}");
  expect(button.getAttribute("aria-disabled")).toBe("true");
  expect(mocked.world.workspaces.map((each) => each.latest_build.transition)).toEqual(["start", "stop"]);
  await user.type(dialog.getByLabelText("Type “2” to confirm"), "{Backspace}2{Enter}");
  await screen.findByText(/Delete: 2 queued/);
  expect(mocked.world.workspaces.map((each) => each.latest_build.transition)).toEqual(["delete", "delete"]);
});

test("without a template, whoever may not make one is told whom to ask", async () => {
  await mount("/workspaces", { world: { may: ({ object }) => object.resource_type !== "template" } });
  await screen.findByText("No template yet");
  expect(screen.queryByText("New workspace")).toBeNull();
  expect(screen.queryByText("New template")).toBeNull();
});

test("an answer that is not the server's is not taken for data", async () => {
  await mount("/workspaces", {
    world: { templates: [template()] },
    but: [answerAsProxy("get", "/workspaces", 200, "<html><body>Sign in to the network</body></html>")],
  });
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("The answer did not come from this server.");
  expect(note.textContent).not.toContain("undefined");
});
