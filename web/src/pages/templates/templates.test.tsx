/** Templates: the list, the frame of one, its settings, and the end of it. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { refuse } from "../../../mock-api/api";
import { everyone, user as person, template, uuid, version } from "../../../mock-api/samples";

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

describe("permissions", () => {
  const PERMISSIONS = "/templates/docker/settings/permissions";
  const bob = person({ username: "bob" });
  const eve = person({ username: "eve", name: "Eve Moneypenny" });
  const SHARED = {
    ...WORLD,
    users: [bob, eve],
    acl: { users: [{ ...bob, role: "use" }], group: [everyone("use")] },
  };
  const roleOf = (name: string) => screen.findByLabelText<HTMLSelectElement>(`Role of ${name}`);

  test("a choice holds at once", async () => {
    const { api, user } = await mount(PERMISSIONS, { world: SHARED });
    await user.selectOptions(await roleOf("bob"), "Manage");
    await screen.findByText("Saved");
    expect(api.world.acl.users.map(({ username, role }) => [username, role])).toEqual([["bob", "admin"]]);
    expect((await roleOf("bob")).value).toBe("admin");
    expect((await roleOf("Everyone")).value).toBe("use");
  });

  test("shared with nobody, the page says who is left", async () => {
    const { api, user } = await mount(PERMISSIONS, { world: SHARED });
    await user.click(await screen.findByLabelText("Remove: bob"));
    await waitFor(() => expect(screen.queryByText("bob")).toBeNull());
    await user.selectOptions(await roleOf("Everyone"), "No access");
    await screen.findByText(/only owners and template admins see this template/);
    expect(api.world.acl).toEqual({ users: [], group: [] });
    expect((await roleOf("Everyone")).value).toBe("");
  });

  test("one is found by what one types, and nobody else is taken for them", async () => {
    const { api, user } = await mount(PERMISSIONS, { world: SHARED });
    await user.click(await screen.findByText("Share", { selector: "button" }));
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByLabelText("Person");
    await user.type(field, "ev{Enter}");
    await dialog.findByText("No member of the organization is called “ev”.");
    await user.clear(field);
    await user.type(field, "bob{Enter}");
    await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
    expect(api.world.acl.users.map(({ role }) => role)).toEqual(["use"]);
    await user.clear(field);
    await user.type(field, "ev");
    await user.click(await dialog.findByText("Eve Moneypenny · eve@example.com"));
    await user.selectOptions(dialog.getByLabelText("Role"), "Manage");
    await user.click(dialog.getByText("Share", { selector: "button" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect((await roleOf("eve")).value).toBe("admin");
    expect(api.world.acl.users.map(({ id, role }) => [id, role])).toEqual([
      [bob.id, "use"],
      [eve.id, "admin"],
    ]);
  });

  test("a search that fails does not say that there is nobody", async () => {
    const { user } = await mount(PERMISSIONS, {
      world: SHARED,
      but: [refuse("get", "/templates/{template}/acl/available", 500, { message: "The database is away." })],
    });
    await user.click(await screen.findByText("Share", { selector: "button" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText("Person"), "eve{Enter}");
    const note = await dialog.findByRole("alert");
    expect(note.textContent).toContain("The database is away.");
    expect(dialog.queryByText(/No member/)).toBeNull();
  });

  test("a refusal is shown, and the role stays what it was", async () => {
    const { user } = await mount(PERMISSIONS, {
      world: SHARED,
      but: [refuse("patch", "/templates/{template}/acl", 403, { message: "You may not do this." })],
    });
    await user.selectOptions(await roleOf("bob"), "Manage");
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain("You may not do this.");
    expect((await roleOf("bob")).value).toBe("use");
  });
});
