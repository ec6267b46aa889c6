/** Getting in, being thrown out and getting back; and the server that goes away, comes back, or is another one. */

import { act, screen, waitFor, within } from "@testing-library/react";
import { HttpResponse } from "msw";
import { describe, expect, test, vi } from "vitest";
import { connection } from "@/api/connection";
import { mount } from "@/testing/mount";
import { server } from "@/testing/server";
import { announce } from "@/testing/surprises";
import { answerAsProxy, disconnect, http, REQUEST_ID, refuse } from "../../mock-api/api";
import { ADA, rebuilt, workspace } from "../../mock-api/samples";

const apiServer = workspace({ name: "api-server" });
const SIGNED_OUT = {
  message: "You are signed out or your session has expired. Please sign in again to continue.",
};

async function signIn(user: Awaited<ReturnType<typeof mount>>["user"]) {
  await user.type(await screen.findByLabelText("Email"), ADA.email);
  await user.type(screen.getByLabelText("Password"), "correct horse battery");
  await user.click(screen.getByText("Sign in", { selector: "button" }));
}

describe("a password that somebody else has chosen", () => {
  const given = { ...ADA, must_change_password: true };
  const WORLD = { me: undefined, users: [given], workspaces: [apiServer] };
  const WANTED = "/@ada/api-server?panel=settings";

  test("is changed before anything else is open, and then one goes on", async () => {
    const { api, user, at } = await mount(WANTED, { world: WORLD });
    await signIn(user);
    const old = await screen.findByLabelText("Password you were given");
    expect(at()).toBe(`/change-password?redirect=${encodeURIComponent(WANTED)}`);
    await user.type(old, "correct horse battery");
    const field = screen.getByLabelText("New password");
    await user.type(field, "short{Enter}");
    await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
    await user.clear(field);
    await user.type(field, "nine lives of a cat{Enter}");
    await screen.findByText("Delete the workspace");
    expect(at()).toBe(WANTED);
    expect(api.world.users.map((each) => each.must_change_password)).toEqual([false]);
  });

  test("can be left for another account", async () => {
    const { api, user, at } = await mount(WANTED, { world: { ...WORLD, me: given } });
    await user.click(await screen.findByText("Sign out", { selector: "button" }));
    await screen.findByLabelText("Email");
    expect(at()).toBe(`/login?redirect=${encodeURIComponent(WANTED)}`);
    expect(api.world.me).toBeUndefined();
  });

  test("is no matter for those who have one of their own", async () => {
    const { at } = await mount(`/change-password?redirect=${encodeURIComponent(WANTED)}`, {
      world: { workspaces: [apiServer] },
    });
    await screen.findByText("Delete the workspace");
    expect(at()).toBe(WANTED);
  });
});

describe("signing in", () => {
  test("leads back to the address that was asked for", async () => {
    const { user, at } = await mount("/@ada/api-server?panel=settings", {
      world: { me: undefined, workspaces: [apiServer] },
    });
    await signIn(user);
    await screen.findByText("Delete the workspace");
    expect(at()).toBe("/@ada/api-server?panel=settings");
  });

  test("does not lead to another site", async () => {
    const { user, at } = await mount("/login?redirect=%2F%2Fevil.example", { world: { me: undefined } });
    await signIn(user);
    await screen.findByText("No template yet");
    expect(at()).toBe("/workspaces");
  });

  test("says that email or password is wrong, and not whose fault the request was", async () => {
    const { user } = await mount("/login", {
      but: [refuse("post", "/users/login", 401, { message: "Incorrect email or password." })],
    });
    await signIn(user);
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain("Email or password is wrong.");
    expect(note.textContent).not.toContain(REQUEST_ID);
  });

  test("says to wait after too many attempts", async () => {
    const { user } = await mount("/login", {
      but: [
        refuse("post", "/users/login", 429, {
          message: "You've been rate limited for sending more than 60 requests in 1m0s.",
        }),
      ],
    });
    await signIn(user);
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain("You've been rate limited");
    expect(note.textContent).toContain("Too many attempts. Wait a minute and try again.");
  });

  test("has no form where passwords are switched off", async () => {
    const off = { enabled: false };
    await mount("/login", {
      world: {
        me: undefined,
        authMethods: {
          password: off,
          github: { enabled: false, default_provider_configured: false },
          oidc: { enabled: false, signInText: "", iconUrl: "" },
        },
      },
    });
    await screen.findByText("Signing in with a password is switched off here");
    expect(screen.queryByLabelText("Password")).toBeNull();
  });

  test("comes after setting up", async () => {
    const { at } = await mount("/workspaces", { world: { me: undefined, setUp: false, users: [] } });
    await screen.findByText("Set up Coder");
    expect(at()).toBe("/setup");
  });
});

describe("setting up", () => {
  async function setUp(world: Partial<Parameters<typeof mount>[1]> = {}, language: "en" | "fr" = "en") {
    const mounted = await mount("/setup", {
      ...world,
      world: { me: undefined, setUp: false, users: [] },
      language,
    });
    await screen.findByRole("heading", { level: 1 });
    const form = within(document.querySelector("form") as HTMLElement);
    const [username, name, email] = form.getAllByRole("textbox");
    const password = document.querySelector("input[name=password]");
    if (!username || !name || !email || !password) throw new Error("a field is missing");
    await mounted.user.type(username, "ada");
    await mounted.user.type(email, "ada@example.com");
    await mounted.user.type(password, "correct horse battery");
    await mounted.user.click(document.querySelector("button[type=submit]") as HTMLElement);
    return { ...mounted, username, email };
  }

  test("makes the first account and goes in", async () => {
    const { api, at } = await setUp();
    await screen.findByText("No template yet");
    expect(at()).toBe("/workspaces");
    expect(api.world.users.map(({ username, email }) => [username, email])).toEqual([
      ["ada", "ada@example.com"],
    ]);
  });

  test("says at each field what the server says about it, in one's own words", async () => {
    const { username, email } = await setUp(
      {
        but: [
          refuse("post", "/users/first", 400, {
            message: "Validation failed.",
            validations: [
              { field: "username", detail: "must be letters and digits, with single hyphens between them" },
              { field: "email", detail: "must be an e-mail address" },
            ],
          }),
        ],
      },
      "fr",
    );
    await screen.findByText("Ce n’est pas une adresse e-mail.");
    const said = (field: HTMLElement) =>
      (field.getAttribute("aria-describedby") ?? "")
        .split(" ")
        .map((id) => document.getElementById(id)?.textContent);
    expect(said(email)).toEqual(["Ce n’est pas une adresse e-mail."]);
    expect(said(username)).toContain(
      "Utilisez des lettres et des chiffres, avec des traits d’union isolés entre eux.",
    );
    expect(username.getAttribute("aria-invalid")).toBe("true");
    // Neither the server's English nor the same again below.
    expect(screen.queryByText("Validation failed.")).toBeNull();
  });
});

describe("a session that ends", () => {
  test("while one acts leads to the sign-in, and back to where one was", async () => {
    const { api, user, at } = await mount("/workspaces?filter=owner%3Ame", {
      world: { workspaces: [apiServer] },
    });
    const stop = await screen.findByLabelText("Stop: api-server");
    api.world.me = undefined;
    server.use(refuse("post", "/workspaces/{workspace}/builds", 401, SIGNED_OUT));
    await user.click(stop);
    await screen.findByText("Your session has ended. Sign in again to go on where you were.");
    expect(at()).toBe("/login?redirect=%2Fworkspaces%3Ffilter%3Downer%253Ame&ended=true");
    server.resetHandlers(...api.handlers);
    await signIn(user);
    await screen.findByText("1 workspace");
    expect(at()).toBe("/workspaces?filter=owner%3Ame");
  });

  test("is found out by the stream that ends with it", async () => {
    const { api } = await mount("/workspaces", { world: { workspaces: [apiServer] } });
    await screen.findByText("1 workspace");
    await waitFor(() => expect(api.streams.list.size).toBe(1));
    api.world.me = undefined;
    api.streams.list.send({ type: "error", data: SIGNED_OUT });
    await screen.findByText("Your session has ended. Sign in again to go on where you were.");
  });
});

describe("a page whose token is old", () => {
  const forged = () =>
    new HttpResponse("Something is wrong with your CSRF token.", {
      status: 400,
      headers: { "Content-Type": "text/plain" },
    });

  test("takes the new one and asks once more", async () => {
    const sent: (string | null)[] = [];
    const { user } = await mount("/workspaces", {
      world: { workspaces: [apiServer] },
      but: [
        http.untyped.get("/", () => HttpResponse.html('<meta property="csrf-token" content="new-token">')),
        http.untyped.put("/api/v2/workspaces/:id/favorite", ({ request }) => {
          sent.push(request.headers.get("X-CSRF-TOKEN"));
          return sent.at(-1) === "new-token" ? undefined : forged();
        }),
      ],
    });
    await user.click(await screen.findByLabelText("More actions: api-server"));
    await user.click(await screen.findByText("Add to favorites"));
    await screen.findByLabelText("Favorite");
    await waitFor(() => expect(sent).toHaveLength(2));
    expect(sent[1]).toBe("new-token");
    expect(screen.queryByRole("alert")).toBeNull();
  });
});

describe("what is not our server", () => {
  test.each([
    [502, "The server cannot be reached."],
    [413, "The server answered with status 413."],
    [200, "The answer did not come from this server."],
  ])("answers with a page of its own and %i", async (status, words) => {
    const page = "<html><head><title>nginx</title></head><body><center>openresty</center></body></html>";
    await mount("/workspaces", { but: [answerAsProxy("get", "/workspaces", status, page)] });
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain(words);
    expect(note.textContent).not.toContain("nginx");
    expect(note.textContent).not.toContain("openresty");
  });

  test("refuses in a line of text, which is shown", async () => {
    const plain = http.untyped.get("/api/v2/workspaces", () =>
      HttpResponse.text("blocked by policy 12", { status: 403 }),
    );
    await mount("/workspaces", { but: [plain] });
    expect((await screen.findByRole("alert")).textContent).toContain("blocked by policy 12");
  });
});

describe("the connection", () => {
  const LOST = "The connection to the server is lost. Trying again…";

  test("is said to be lost, and what was missed is there once it is back", async () => {
    vi.useFakeTimers({
      shouldAdvanceTime: true,
      advanceTimeDelta: 50,
      toFake: ["setInterval", "clearInterval"],
    });
    const { api } = await mount("/workspaces", { world: { workspaces: [apiServer] } });
    await screen.findByText("Running");
    await waitFor(() => expect(api.streams.list.size).toBe(1));
    server.use(disconnect("get", "/buildinfo"), disconnect("get", "/workspaces"));
    api.setAway(true);
    await screen.findByText(LOST);
    // The rows stay, as they were last known.
    screen.getByText("Running");
    api.world.workspaces = [rebuilt(apiServer, "stopped")];
    api.setAway(false);
    server.resetHandlers(...api.handlers);
    await act(() => vi.advanceTimersByTimeAsync(2000));
    await screen.findByText("Stopped");
    await waitFor(() => expect(screen.queryByText(LOST)).toBeNull());
  });

  test("heals the whole page, whatever it was that found the server back", async () => {
    await mount("/templates", { but: [disconnect("get", "/templates")] });
    await screen.findByText("The server cannot be reached.");
    await screen.findByText(LOST);
    server.resetHandlers(...(await import("../../mock-api/deployment")).deployment().handlers);
    // Not the knocking of the banner: an answer to something else.
    act(() => connection.answered(null));
    await screen.findByText("No template yet");
    expect(screen.queryByText("The server cannot be reached.")).toBeNull();
  });

  test("to a newer server offers to reload, until one does", async () => {
    const { api, user } = await mount("/workspaces", { world: { workspaces: [apiServer] } });
    await screen.findByText("1 workspace");
    expect(screen.queryByText("The server has been updated.")).toBeNull();
    server.use(
      http.put("/workspaces/{workspace}/favorite", ({ response }) => {
        api.world.workspaces = [{ ...apiServer, favorite: true }];
        return response(204).empty({ headers: { "X-Coder-Build-Version": "v2.25.0" } });
      }),
    );
    await user.click(screen.getByLabelText("More actions: api-server"));
    await user.click(await screen.findByText("Add to favorites"));
    await screen.findByText("The server has been updated.");
    // The list is read again, by an answer that does not say of which version it is.
    await screen.findByLabelText("Favorite");
    screen.getByText("The server has been updated.");
    expect(screen.getByText("Reload").tagName).toBe("BUTTON");
  });
});

test("an unknown address says so, and leads on", async () => {
  await mount("/no/such/page");
  await screen.findByText("There is nothing at this address");
  expect(screen.getByText("Go to your workspaces").getAttribute("href")).toBe("/workspaces");
});

test("a page that cannot know who one is says why, and can try again", async () => {
  announce(/The database does not answer/, /Error in route match/);
  const { api, user } = await mount("/workspaces", {
    world: { workspaces: [apiServer] },
    but: [refuse("get", "/users/{user}", 500, { message: "The database does not answer." })],
  });
  expect((await screen.findByRole("alert")).textContent).toContain("The database does not answer.");
  server.resetHandlers(...api.handlers);
  await user.click(screen.getByText("Try again"));
  await screen.findByText("1 workspace");
});
