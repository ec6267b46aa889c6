/** One's own pages: what is refused is said where it belongs, and what was shown too early is taken back. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import { mount } from "@/testing/mount";
import { server } from "@/testing/server";
import { hold, http, REQUEST_ID, refuse } from "../../../mock-api/api";
import { notification, token, uuid } from "../../../mock-api/samples";

const KIND = {
  id: uuid(),
  name: "Workspace Deleted",
  group: "Workspace Events",
  kind: "system",
  method: "",
  title_template: "",
  body_template: "",
  actions: "[]",
  enabled_by_default: true,
};

describe("the profile", () => {
  test("shows at its field what is wrong with a name, until it is changed", async () => {
    const { user } = await mount("/settings/account", {
      but: [
        refuse("put", "/users/{user}/profile", 409, {
          message: "User already exists.",
          validations: [{ field: "username", detail: "This value is already in use and should be unique." }],
        }),
      ],
    });
    const field = await screen.findByLabelText("Username");
    await user.clear(field);
    await user.type(field, "grace{Enter}");
    await screen.findByText("Somebody has this username already.");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(screen.queryByText("User already exists.")).toBeNull();
    await user.type(field, "2");
    expect(screen.queryByText("Somebody has this username already.")).toBeNull();
  });

  test("is kept, and known everywhere at once", async () => {
    const { user } = await mount("/settings/account");
    const field = await screen.findByLabelText("Username");
    await user.clear(field);
    await user.type(field, "countess{Enter}");
    await screen.findByText("Saved");
    expect(screen.getByLabelText("Account: countess")).toBeTruthy();
  });
});

describe("tokens", () => {
  test("never used and expired ones say so", async () => {
    await mount("/settings/tokens", {
      world: { tokens: [token({ token_name: "old", expires_at: "2020-01-01T00:00:00Z" })] },
    });
    const table = within(await screen.findByRole("table", { name: "Tokens" }));
    expect(table.getByText("Expired")).toBeTruthy();
    expect(table.getByText("never")).toBeTruthy();
  });

  test("a name that is taken is refused at its field", async () => {
    const { user } = await mount("/settings/tokens/new", {
      but: [
        refuse("post", "/users/{user}/keys/tokens", 409, {
          message: "A token with name “ci” already exists.",
          validations: [{ field: "name", detail: "This value is already in use and should be unique." }],
        }),
      ],
    });
    const field = await screen.findByLabelText("Name");
    await user.type(field, "ci{Enter}");
    await screen.findByText("This name is already taken.");
    expect(field.getAttribute("aria-invalid")).toBe("true");
  });

  test("a new one is shown once, and is in the list then", async () => {
    const { user, at } = await mount("/settings/tokens/new");
    await user.type(await screen.findByLabelText("Name"), "ci{Enter}");
    await screen.findByText("Copy the token now. Nobody can read it again.");
    await user.click(screen.getByText("Done"));
    await waitFor(() => expect(at()).toBe("/settings/tokens"));
    await screen.findByText("ci", { selector: ".token-name" });
    expect(screen.queryByText(/-Zx8Kq2Lm5Np7Rt9Vw3Yb/)).toBeNull();
  });

  test("the form says why it cannot begin", async () => {
    await mount("/settings/tokens/new", {
      but: [
        refuse("get", "/users/{user}/keys/tokens/tokenconfig", 500, {
          message: "The settings cannot be read.",
        }),
      ],
    });
    const dialog = within(await screen.findByRole("dialog"));
    expect((await dialog.findByRole("alert")).textContent).toContain("The settings cannot be read.");
  });

  test("one that cannot be deleted stays, with the reason in the dialog", async () => {
    const { user } = await mount("/settings/tokens", {
      world: { tokens: [token({ token_name: "ci" })] },
      but: [refuse("delete", "/users/{user}/keys/{key}", 500, { message: "The database does not answer." })],
    });
    await user.click(await screen.findByLabelText("Delete token ci"));
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByText("Delete"));
    const note = await dialog.findByRole("alert");
    expect(note.textContent).toContain("The database does not answer.");
    expect(note.textContent).toContain(REQUEST_ID);
    await user.click(dialog.getByText("Cancel"));
    screen.getByText("ci", { selector: ".token-name" });
    // What was said of the last attempt is not said of the next one.
    await user.click(screen.getByLabelText("Delete token ci"));
    expect(within(await screen.findByRole("dialog")).queryByRole("alert")).toBeNull();
  });
});

describe("notifications", () => {
  test("a kind is off at once, and on again when the server refuses", async () => {
    const path = "/users/{user}/notifications/preferences";
    const { handler, release } = hold("put", path);
    const { user } = await mount("/settings/notifications", {
      world: { notificationTemplates: [KIND] },
      but: [handler, refuse("put", path, 500, { message: "The preferences cannot be written." })],
    });
    const box = (await screen.findByLabelText("Workspace Deleted")) as HTMLInputElement;
    expect(box.checked).toBe(true);
    await user.click(box);
    expect(box.checked).toBe(false);
    // It is not the list, read again, that takes it back.
    server.use(hold("get", path).handler);
    release();
    await screen.findByText("The preferences cannot be written.");
    expect(box.checked).toBe(true);
  });

  test("without what one has chosen before there is no list that would lie", async () => {
    await mount("/settings/notifications", {
      world: { notificationTemplates: [KIND] },
      but: [
        refuse("get", "/users/{user}/notifications/preferences", 500, {
          message: "The database does not answer.",
        }),
      ],
    });
    await screen.findByText("The database does not answer.");
    expect(screen.queryByLabelText("Workspace Deleted")).toBeNull();
  });
});

describe("the inbox", () => {
  const open = async (over: Parameters<typeof mount>[1]) => {
    const mounted = await mount("/settings/account", over);
    await screen.findByLabelText("Username");
    const bell = document.querySelector(".bell") as HTMLElement;
    await mounted.user.click(bell);
    await screen.findByRole("heading", { name: "Notifications" });
    return { ...mounted, bell };
  };

  test("says that there is nothing", async () => {
    await open({});
    await screen.findByText("Nothing yet");
  });

  test("says what the server said, and tries again", async () => {
    await open({ but: [refuse("get", "/notifications/inbox", 500, { message: "The inbox is closed." })] });
    const note = (await screen.findByText("The inbox is closed.")).closest("[role=alert]");
    expect(note?.textContent).toContain("Try again");
  });

  test("has news at once, and counts them", async () => {
    const { api, bell } = await open({ world: { inbox: [notification()] } });
    await screen.findByText("Workspace autobuild failed");
    await waitFor(() => expect(bell.textContent).toContain("Notifications: 1 unread"));
    const news = notification({ title: "Workspace deleted", content: "It is gone." });
    api.streams.inbox.send({ notification: news, unread_count: 2 });
    await screen.findByText("Workspace deleted");
    expect(bell.textContent).toContain("Notifications: 2 unread");
  });

  test("keeps news that come while the list is on its way", async () => {
    const first = notification();
    const { api, bell } = await open({ world: { inbox: [first] } });
    await screen.findByText("Workspace autobuild failed");
    const path = "/notifications/inbox";
    let answer: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const older = notification({ title: "Older" });
    const second = notification({ title: "Second" });
    server.use(
      http.get(path, async ({ response }) => {
        await late;
        // Read before the third had come.
        return response(200).json({ notifications: [second, first, older], unread_count: 3 });
      }),
    );
    // Not one more than there were: the list is read again, and is slow.
    api.streams.inbox.send({ notification: second, unread_count: 3 });
    await screen.findByText("Second");
    api.streams.inbox.send({ notification: notification({ title: "Third" }), unread_count: 4 });
    await screen.findByText("Third");
    answer();
    await screen.findByText("Older");
    await screen.findByText("Third");
    screen.getByText("Second");
    expect(bell.textContent).toContain("Notifications: 4 unread");
  });

  test("what is marked as read is unread again when the server refuses", async () => {
    const path = "/notifications/inbox/{id}/read-status";
    const { handler, release } = hold("put", path);
    const { user, bell } = await open({
      world: { inbox: [notification()] },
      but: [handler, refuse("put", path, 500, { message: "It cannot be marked." })],
    });
    await user.click(await screen.findByLabelText("Mark read"));
    await waitFor(() => expect(bell.textContent).not.toContain("unread"));
    // It is not the list, read again, that takes it back.
    server.use(hold("get", "/notifications/inbox").handler);
    release();
    await screen.findByText("It cannot be marked.");
    await waitFor(() => expect(bell.textContent).toContain("Notifications: 1 unread"));
  });
});
