/** The admin pages: who may see them, what one may not do and why, and what the server refuses. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { REQUEST_ID, refuse } from "../../../mock-api/api";
import { ADA, auditLog, daemon, member, user } from "../../../mock-api/samples";

const GRACE = user({ username: "grace", name: "Grace Hopper" });
const OWNER = user({ username: "root", roles: [{ name: "owner", display_name: "Owner" }] });

describe("whoever may not see a page", () => {
  test("is told who one is, and which roles it takes", async () => {
    await mount("/admin/users", { world: { may: () => false } });
    await screen.findByText("You may not see this page");
    screen.getByText("You are signed in as ada (Member).");
    expect(screen.queryByText("Admin", { selector: ".nav-word" })).toBeNull();
  });

  test("sees those that one may", async () => {
    const { at } = await mount("/admin", {
      world: { may: ({ object }) => object.resource_type === "audit_log" },
    });
    await screen.findByText("Nothing is recorded yet");
    expect(at()).toBe("/admin/audit");
    const pages = within(screen.getByRole("navigation", { name: "Admin" }));
    expect(pages.getAllByRole("link").map((link) => link.textContent)).toEqual(["Audit log"]);
  });
});

test("where the permissions cannot be had, the page says so instead of that nothing is allowed", async () => {
  await mount("/admin/users", {
    but: [refuse("post", "/authcheck", 500, { message: "The database does not answer." })],
  });
  await screen.findByText("The database does not answer.");
  expect(screen.queryByText("You may not see this page")).toBeNull();
});

test.each([
  ["en", 1, "1 user"],
  ["en", 2, "2 users"],
  ["fr", 1, "1 utilisateur"],
  ["fr", 2, "2 utilisateurs"],
] as const)("users are counted in %s: %i", async (language, count, words) => {
  await mount("/admin/users", { language, world: { users: [ADA, GRACE].slice(0, count) } });
  await screen.findByText(words);
});

describe("what one may do with a user", () => {
  const menu = async (name: string, may?: NonNullable<Parameters<typeof mount>[1]>["world"]) => {
    const mounted = await mount("/admin/users", { world: { users: [ADA, GRACE, OWNER], ...may } });
    await mounted.user.click(await screen.findByLabelText(`Actions for ${name}`));
    const items = await screen.findAllByRole("menuitem");
    const item = (word: string) => items.find((each) => each.textContent?.startsWith(word));
    return { ...mounted, item };
  };

  test("not with oneself", async () => {
    const { item } = await menu("ada");
    expect(item("Suspend")?.textContent).toContain("You cannot suspend yourself.");
    expect(item("Delete")?.textContent).toContain("You cannot delete yourself.");
    expect(item("Delete")?.getAttribute("aria-disabled")).toBe("true");
  });

  test("an owner is not suspended", async () => {
    const { item } = await menu("root");
    expect(item("Suspend")?.textContent).toContain("An owner cannot be suspended.");
    expect(item("Delete")?.getAttribute("aria-disabled")).toBeNull();
  });

  test("nothing that the server does not let one do", async () => {
    const { item } = await menu("grace", { may: ({ action }) => action === "read" });
    expect(item("Suspend")?.textContent).toContain("Your roles do not allow this.");
    expect(item("Delete")?.textContent).toContain("Your roles do not allow this.");
  });

  test("deleting takes the name", async () => {
    const { user, item, api } = await menu("grace");
    await user.click(item("Delete") as HTMLElement);
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByLabelText("Type “grace” to confirm");
    await user.type(field, "ada{Enter}");
    expect(api.world.users).toHaveLength(3);
    await user.clear(field);
    await user.type(field, "grace{Enter}");
    await screen.findByText("2 users");
    expect(api.world.users.map(({ username }) => username)).toEqual(["ada", "root"]);
  });
});

describe("a new user", () => {
  async function fill(status: number, body: Parameters<typeof refuse>[3]) {
    const mounted = await mount("/admin/users", { but: [refuse("post", "/users", status, body)] });
    await mounted.user.click(await screen.findByText("New user"));
    const dialog = within(await screen.findByRole("dialog"));
    await mounted.user.type(dialog.getByLabelText("Username"), "grace");
    await mounted.user.type(dialog.getByLabelText("Email"), "grace@example.com{Enter}");
    return { ...mounted, dialog };
  }

  test("has what is wrong said at its fields", async () => {
    const { dialog } = await fill(400, {
      message: "Validation failed.",
      validations: [
        { field: "username", detail: 'must not be "grace", which is reserved' },
        { field: "password", detail: "insecure password" },
      ],
    });
    await dialog.findByText("The name “grace” is reserved. Choose another one.");
    expect(dialog.getByLabelText("Username").getAttribute("aria-invalid")).toBe("true");
    dialog.getByText("Too easy to guess. Make it longer, or mix in other kinds of characters.");
    expect(dialog.queryByText("Validation failed.")).toBeNull();
  });

  test("that there is already is said in plain words", async () => {
    const { dialog } = await fill(409, { message: "User already exists." });
    const note = await dialog.findByRole("alert");
    expect(note.textContent).not.toContain("User already exists.");
    expect(note.textContent).toMatch(/already/);
  });

  test("that is refused for no field is refused below, with the request", async () => {
    const { dialog } = await fill(403, { message: "User creation is switched off." });
    const note = await dialog.findByRole("alert");
    expect(note.textContent).toContain("User creation is switched off.");
    expect(note.textContent).toContain(REQUEST_ID);
  });
});

test("members are those of the organization, and one cannot remove oneself", async () => {
  const { user } = await mount("/admin/members", { world: { members: [member(ADA), member(GRACE)] } });
  await screen.findByText("2 members");
  await user.click(screen.getByLabelText("Actions for ada"));
  const items = await screen.findAllByRole("menuitem");
  expect(items.map((each) => each.textContent).join()).toContain("You cannot remove yourself.");
});

test("a provisioner of another release is marked, one that is away too", async () => {
  await mount("/admin/provisioners", {
    world: { daemons: [daemon(), daemon({ name: "old", version: "v2.20.0", status: "offline" })] },
  });
  await screen.findByText("1 of 2 online");
  await waitFor(() => expect(screen.getAllByText("differs from the server")).toHaveLength(1));
});

test("an entry of the audit log opens on what changed", async () => {
  const { user } = await mount("/admin/audit", {
    language: "fr",
    world: {
      audit: [
        auditLog({
          action: "write",
          resource_type: "workspace",
          diff: { name: { old: "api", new: "api-server", secret: false } },
        }),
      ],
    },
  });
  await screen.findByText("1 entrée");
  await user.click(
    within(screen.getByRole("list", { name: /audit/i })).getAllByRole("button")[0] as HTMLElement,
  );
  await screen.findByText(/api-server/, { selector: "ins, td, code, dd, ins *" });
});
