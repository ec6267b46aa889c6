/** Templates: the list, the frame of one, its settings, and the end of it. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { refuse } from "../../../mock-api/api";
import { template, uuid, version } from "../../../mock-api/samples";

const active = version();
const docker = template({ name: "docker", display_name: "Docker", active_version_id: active.id });
const WORLD = { templates: [docker], versions: [{ ...active, template_id: docker.id }] };

test.each([
  ["en", 0, "0 active developers"],
  ["en", 1, "1 active developer"],
  ["en", 2, "2 active developers"],
  ["fr", 0, "0 développeur actif"],
  ["fr", 1, "1 développeur actif"],
  ["fr", 2, "2 développeurs actifs"],
] as const)("developers are counted in %s: %i", async (language, active_user_count, words) => {
  await mount("/templates", { language, world: { ...WORLD, templates: [{ ...docker, active_user_count }] } });
  await screen.findByText(words);
});

test("the list is there though the names of versions are not", async () => {
  await mount("/templates", {
    world: WORLD,
    but: [
      refuse("get", "/templateversions/{templateversion}", 500, { message: "The database does not answer." }),
    ],
  });
  await screen.findByText("Docker");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("deprecated ones are shown when asked for, and cannot be used", async () => {
  const old = template({
    id: uuid(),
    name: "old",
    display_name: "Old",
    deprecated: true,
    deprecation_message: "Use Docker.",
  });
  const { user, at } = await mount("/templates", { world: { ...WORLD, templates: [docker, old] } });
  await screen.findByText("Docker");
  expect(screen.queryByText("Old")).toBeNull();
  await user.click(await screen.findByText(/deprecated/i, { selector: "button" }));
  await screen.findByText("Old");
  expect(at()).toBe("/templates?deprecated=true");
  expect(screen.getByLabelText("New workspace: Docker")).toBeTruthy();
  expect(screen.queryByLabelText("New workspace: Old")).toBeNull();
});

test("whoever may make no workspace sees the button, with the reason", async () => {
  const { user } = await mount("/templates/docker", {
    world: { ...WORLD, may: ({ object }) => object.resource_type !== "workspace" },
  });
  const off = () => screen.getByText("New workspace").closest("[aria-disabled]");
  await waitFor(() => expect(off()?.getAttribute("aria-disabled")).toBe("true"));
  await user.hover(screen.getByText("New workspace"));
  expect((await screen.findAllByText("You may not do this.")).length).toBeGreaterThan(0);
});

test("whoever may not change a template finds no settings of it", async () => {
  await mount("/templates/docker", { world: { ...WORLD, may: () => false } });
  await screen.findByText("Versions");
  expect(screen.queryByText("Settings")).toBeNull();
});

describe("settings", () => {
  const SETTINGS = "/templates/docker/settings";

  test("a name that is taken is refused at its field", async () => {
    const { user } = await mount(SETTINGS, {
      world: WORLD,
      but: [
        refuse("patch", "/templates/{template}", 409, {
          message: "Template already exists.",
          validations: [{ field: "name", detail: "This value is already in use and should be unique." }],
        }),
      ],
    });
    const field = await screen.findByLabelText("Name");
    await user.clear(field);
    await user.type(field, "python{Enter}");
    await screen.findByText("This name is already taken.");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(screen.queryByText("Template already exists.")).toBeNull();
  });

  test("a new name leads to the new address", async () => {
    const { user, at } = await mount(SETTINGS, { world: WORLD });
    const field = await screen.findByLabelText("Name");
    await user.clear(field);
    await user.type(field, "containers{Enter}");
    await waitFor(() => expect(at()).toBe("/templates/containers/settings"));
    await screen.findByText("containers", { selector: "code" });
  });

  test("a template that has workspaces stays, and the dialog says why", async () => {
    const { user, at } = await mount(SETTINGS, {
      world: WORLD,
      but: [
        refuse("delete", "/templates/{template}", 400, {
          message: "All workspaces must be deleted before a template can be removed.",
        }),
      ],
    });
    await user.click(await screen.findByText("Delete template", { selector: "button" }));
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByLabelText("Type “docker” to confirm");
    await user.type(field, "Docker{Enter}");
    expect(dialog.queryByRole("alert")).toBeNull();
    await user.clear(field);
    await user.type(field, "docker{Enter}");
    const note = await dialog.findByRole("alert");
    expect(note.textContent).toContain("All workspaces must be deleted before a template can be removed.");
    expect(at()).toBe(SETTINGS);
  });
});
