/** What is about oneself, and what helps everywhere: the account's pages, a session elsewhere, the inbox, the palette. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language, nameIn } from "./browser";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const PASSWORDS = ["plain horses eat 7 apples", "seven apples feed 2 horses"] as const;
const DAY_MS = 86_400_000;
/** As many as the server gives in one page of the inbox. */
const INBOX_PAGE = 25;

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

let server: Server;
/** The account's password now: it changes on the way. */
let password: string = PASSWORDS[0];
let token = "";

/** Asks the API as a program does. */
async function api<T>(
  method: string,
  path: string,
  body?: unknown,
  as = token,
): Promise<{ status: number; body: T }> {
  const response = await fetch(new URL(`/api/v2${path}`, server.url), {
    method,
    headers: { "Coder-Session-Token": as, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T };
}

const signIn = (secret: string) =>
  api<{ session_token: string }>("POST", "/users/login", { email: EMAIL, password: secret }, "");

const statusWith = async (key: string) => (await api("GET", "/users/me", undefined, key)).status;

beforeAll(async () => {
  server = await Server.start();
  await api("POST", "/users/first", { email: EMAIL, username: "owner", password });
  token = (await signIn(password)).body.session_token;
  const member = { email: "member@example.org", username: "member", password, user_status: "active" };
  const { body } = await api<{ organization_ids: string[] }>("GET", "/users/me");
  await api("POST", "/users", { ...member, organization_ids: body.organization_ids });
  await server.pushTemplate(EMAIL, password);
  await server.coder("create", "first", "--template", "local", "--yes");
});

afterAll(async () => {
  await server?.stop();
});

describe.each(languages)("in %s", (language, t) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await Browser.start(server.url, language);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
  const field = (name: string) => browser.page.getByRole("textbox", { name, exact: true });
  const secretField = (name: string) => browser.page.getByLabel(name, { exact: true });
  const open = async (path: string, title: string) => {
    await browser.page.goto(`${server.url}${path}`);
    await browser.page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
    expect(await browser.page.title()).toContain(title);
  };
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => browser.page.keyboard.press(key)), Promise.resolve());
  const palette = () => browser.page.getByRole("dialog", { name: t.palette.title });
  const openPalette = async () => {
    await browser.page.locator(".nav-search").waitFor();
    await press("Control+k");
    await palette().getByRole("combobox").waitFor();
  };
  const selected = () => browser.page.locator("[role=option][aria-selected=true] .palette-label");

  test("a program sends one here for a session, and one comes back to it after signing in", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/cli-auth`);
    await page.waitForURL("**/login?**");
    await field(t.login.email).fill(EMAIL);
    await secretField(t.login.password).fill(password);
    await button(t.login.submit).click();
    await page.waitForURL("**/cli-auth");
    const secret = page.getByRole("region", { name: t.account.cli.token }).locator("code");
    const key = await secret.innerText();
    await browser.examine("cli-auth");
    expect(await server.coder("login", server.url, "--token", key)).toContain("owner");
    expect(await server.coder("list")).toContain("first");
    // Coming back to the tab makes no second one.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    expect(await secret.innerText()).toBe(key);
  });

  test("the profile is saved, and says what is wrong at its field", async () => {
    const { page } = browser;
    await open("/settings", t.account.pages.profile);
    await page.waitForURL("**/settings/account");
    expect(await field(t.account.profile.email).inputValue()).toBe(EMAIL);
    const name = page.getByLabel(t.setup.name);
    const fullName = language === "en" ? "Owner of the deployment" : "Propriétaire du déploiement";
    await name.fill(fullName);
    await button(t.common.save).click();
    await page.getByText(t.common.saved, { exact: true }).waitFor();
    expect((await api<{ name: string }>("GET", "/users/me")).body.name).toBe(fullName);
    await field(t.setup.username).fill("member");
    await button(t.common.save).click();
    await page.locator(".field", { hasText: t.setup.username }).getByRole("alert").waitFor();
    await browser.examine("account-profile");
    expect((await api<{ username: string }>("GET", "/users/me")).body.username).toBe("owner");
  });

  test("the password is changed with the old one, and one stays signed in", async () => {
    const { page } = browser;
    const next = PASSWORDS.find((each) => each !== password) ?? "";
    await open("/settings/security", t.account.pages.security);
    await secretField(t.account.security.old).fill("wrong");
    await secretField(t.account.security.new).fill("abc");
    await secretField(t.account.security.new).blur();
    await page.getByText(t.setup.passwordWeak).waitFor();
    await browser.examine("account-security-weak");
    await secretField(t.account.security.new).fill(next);
    await button(t.account.security.change).click();
    await page.locator(".field", { hasText: t.account.security.old }).getByRole("alert").waitFor();
    expect((await signIn(password)).status).toBe(201);
    await secretField(t.account.security.old).fill(password);
    await button(t.account.security.change).click();
    await page.getByText(t.account.security.changed).waitFor();
    expect((await signIn(password)).status).toBe(401);
    password = next;
    token = (await signIn(password)).body.session_token;
    await page.reload();
    await page.getByRole("heading", { level: 1, name: t.account.pages.security }).waitFor();
    await browser.examine("account-security");
  });

  test("theme and terminal font go with the account, the language stays here", async () => {
    const { page } = browser;
    const appearance = async () => (await api<Record<string, string>>("GET", "/users/me/appearance")).body;
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    await open("/settings/appearance", t.account.pages.appearance);
    await page.getByLabel(t.nav.theme, { exact: true }).selectOption("dark");
    await expect.poll(async () => (await appearance()).theme_preference).toBe("dark");
    expect(await theme()).toBe("dark");
    await page.getByLabel(t.account.appearance.font, { exact: true }).selectOption("fira-code");
    await expect.poll(appearance).toMatchObject({ theme_preference: "dark", terminal_font: "fira-code" });
    // Another browser of the same account takes the theme over.
    await page.evaluate(() => localStorage.removeItem("coder.theme"));
    await page.reload();
    await expect.poll(theme).toBe("dark");
    expect(await page.getByLabel(t.account.appearance.font, { exact: true }).inputValue()).toBe("fira-code");
    await page.getByLabel(t.account.appearance.font, { exact: true }).selectOption("");
    await page.getByLabel(t.nav.theme, { exact: true }).selectOption("system");
    await expect.poll(appearance).toMatchObject({ theme_preference: "auto", terminal_font: "" });
    await browser.examine("account-appearance");
    const [other, texts] = language === "en" ? (["fr", fr] as const) : (["en", en] as const);
    await page.getByLabel(t.nav.language, { exact: true }).selectOption(other);
    await page.getByRole("heading", { level: 1, name: texts.account.pages.appearance }).waitFor();
    await page.getByLabel(texts.nav.language, { exact: true }).selectOption(language);
    await page.getByRole("heading", { level: 1, name: t.account.pages.appearance }).waitFor();
  });

  test("quiet hours are set, and given back to the deployment", async () => {
    const { page } = browser;
    const hours = async () => (await api<Record<string, unknown>>("GET", "/users/me/quiet-hours")).body;
    const words = t.account.schedule;
    await open("/settings/schedule", t.account.pages.schedule);
    await page.getByLabel(words.time, { exact: true }).fill("21:05");
    await page.getByLabel(words.zone, { exact: true }).selectOption("Europe/Paris");
    await button(words.save).click();
    await expect.poll(hours).toMatchObject({
      raw_schedule: "CRON_TZ=Europe/Paris 5 21 * * *",
      user_set: true,
    });
    await button(words.reset).waitFor();
    await browser.examine("account-schedule");
    await page.reload();
    expect(await page.getByLabel(words.time, { exact: true }).inputValue()).toBe("21:05");
    await button(words.reset).click();
    await expect.poll(hours).toMatchObject({ raw_schedule: "CRON_TZ=UTC 0 0 * * *", user_set: false });
    await expect.poll(() => page.getByLabel(words.time, { exact: true }).inputValue()).toBe("00:00");
    await button(words.reset).waitFor({ state: "detached" });
  });

  test("a token works from when it is made until it is deleted", async () => {
    const { page } = browser;
    await open("/settings/tokens", t.account.pages.tokens);
    await page.getByText(t.account.tokens.emptyTitle).waitFor();
    await browser.examine("account-tokens-none");
    await page.getByRole("link", { name: t.account.tokens.create }).click();
    await page.waitForURL("**/settings/tokens/new");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(t.account.tokens.name).fill(nameIn(language, "laptop"));
    await dialog.getByLabel(t.account.tokens.lifetime).selectOption("date");
    await dialog.getByLabel(t.account.tokens.until).waitFor();
    await browser.examine("account-token-new");
    await dialog.getByLabel(t.account.tokens.lifetime).selectOption("7");
    await dialog.getByRole("button", { name: t.account.tokens.submit }).click();
    const key = await dialog
      .getByRole("region", { name: t.account.tokens.token })
      .locator("code")
      .innerText();
    await browser.examine("account-token-made");
    expect(await statusWith(key)).toBe(200);
    const id = key.split("-")[0] ?? "";
    const made = await api<{ expires_at: string; scope: string }>("GET", `/users/me/keys/${id}`);
    expect(made.body.scope).toBe("all");
    expect(Math.round((Date.parse(made.body.expires_at) - Date.now()) / DAY_MS)).toBe(7);
    await dialog.getByRole("button", { name: t.account.tokens.done }).click();
    await page.waitForURL("**/settings/tokens");
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByText(key).count()).toBe(0);

    // A name that is taken is said at its field.
    await page.goto(`${server.url}/settings/tokens/new`);
    await dialog.getByLabel(t.account.tokens.name).fill(nameIn(language, "laptop"));
    await dialog.getByRole("button", { name: t.account.tokens.submit }).click();
    await dialog.locator(".field").first().getByRole("alert").waitFor();
    await press("Escape");
    await page.waitForURL("**/settings/tokens");
    await browser.examine("account-tokens");

    await button(t.account.tokens.deleteOf(nameIn(language, "laptop"))).click();
    await dialog.getByRole("button", { name: t.account.tokens.delete, exact: true }).click();
    await page.getByText(t.account.tokens.emptyTitle).waitFor();
    expect(await statusWith(key)).toBe(401);
  });

  test("the SSH key is shown, and another one takes its place", async () => {
    const { page } = browser;
    const stored = async () =>
      (await api<{ public_key: string }>("GET", "/users/me/gitsshkey")).body.public_key.trim();
    await open("/settings/ssh-keys", t.account.pages.sshKey);
    const shown = page.getByRole("region", { name: t.account.sshKey.public }).locator("code").first();
    const before = await stored();
    expect(await shown.innerText()).toBe(before);
    await browser.examine("account-ssh-key");
    await button(t.account.sshKey.regenerate).click();
    await browser.examine("account-ssh-key-confirm");
    await page.getByRole("dialog").getByRole("button", { name: t.account.sshKey.regenerate }).click();
    await expect.poll(() => shown.innerText()).not.toBe(before);
    expect(await shown.innerText()).toBe(await stored());
  });

  test("kinds of notification are switched off and on", async () => {
    const { page } = browser;
    await open("/settings/notifications", t.account.pages.notifications);
    const first = page.getByRole("checkbox").first();
    expect(await first.isChecked()).toBe(true);
    await first.click();
    const disabled = async () =>
      (
        (await api<{ disabled: boolean }[] | null>("GET", "/users/me/notifications/preferences")).body ?? []
      ).filter((each) => each.disabled).length;
    await expect.poll(disabled).toBe(1);
    await page.reload();
    expect(await first.isChecked()).toBe(false);
    await browser.examine("account-notifications");
    await first.click();
    await expect.poll(disabled).toBe(0);
  });

  test("the inbox is live, and can be read", async () => {
    const { page } = browser;
    await open("/settings/notifications", t.account.pages.notifications);
    const bell = page.locator(".bell");
    await api("PUT", "/notifications/inbox/mark-all-as-read");
    await page.reload();
    await page.getByRole("button", { name: t.inbox.title, exact: true }).waitFor();
    await button(t.account.notifications.test).click();
    await page.getByRole("button", { name: t.inbox.unread(1), exact: true }).waitFor();
    await bell.click();
    const inbox = page.getByRole("dialog", { name: t.inbox.title });
    await inbox.getByRole("heading", { level: 3 }).first().waitFor();
    await browser.examine("inbox");
    await inbox.getByRole("button", { name: t.inbox.markRead, exact: true }).first().click();
    const unread = async () =>
      (await api<{ unread_count: number }>("GET", "/notifications/inbox")).body.unread_count;
    await expect.poll(unread).toBe(0);
    await page.getByRole("button", { name: t.inbox.title, exact: true }).waitFor();

    // They come while the panel is open, and older ones are loaded when asked for.
    for (let count = 0; count < INBOX_PAGE; count += 1) await api("POST", "/notifications/test");
    await page.getByRole("button", { name: t.inbox.unread(INBOX_PAGE), exact: true }).waitFor();
    await inbox.getByRole("button", { name: t.inbox.markAll }).click();
    await expect.poll(unread).toBe(0);
    await page.reload();
    await bell.click();
    const messages = inbox.getByRole("listitem");
    await expect.poll(() => messages.count()).toBe(INBOX_PAGE);
    await inbox.getByRole("button", { name: t.inbox.older }).click();
    await expect.poll(() => messages.count()).toBeGreaterThan(INBOX_PAGE);
    await press("Escape");
    await inbox.waitFor({ state: "detached" });
  });

  test("what is read elsewhere is read here", async () => {
    const { page } = browser;
    const bell = (count: number, at = page) =>
      at.getByRole("button", { name: count > 0 ? t.inbox.unread(count) : t.inbox.title, exact: true });
    const come = async (count: number) => {
      for (let each = 0; each < count; each += 1) await api("POST", "/notifications/test");
    };
    const newest = async () =>
      (await api<{ notifications: { id: string }[] }>("GET", "/notifications/inbox")).body.notifications[0]
        ?.id ?? "";
    const read = (id: string) => api("PUT", `/notifications/inbox/${id}/read-status`, { is_read: true });
    const unreadHere = page.getByRole("dialog", { name: t.inbox.title }).locator("[data-unread]");
    await bell(0).waitFor();

    // In another window of this browser.
    await come(2);
    await bell(2).click();
    await expect.poll(() => unreadHere.count()).toBe(2);
    const other = await browser.another();
    await other.goto(`${server.url}/workspaces`);
    await bell(2, other).click();
    await other.getByRole("button", { name: t.inbox.markRead, exact: true }).first().click();
    await bell(1).waitFor();
    await expect.poll(() => unreadHere.count()).toBe(1);
    await other.close();

    // On another machine: the next news tell that the count has changed.
    await read(await newest());
    await api("PUT", "/notifications/inbox/mark-all-as-read");
    await come(1);
    await bell(1).waitFor();
    await expect.poll(() => unreadHere.count()).toBe(1);

    // And so does the panel when it is opened.
    await press("Escape");
    await unreadHere.first().waitFor({ state: "detached" });
    await read(await newest());
    await bell(1).click();
    await bell(0).waitFor();
    expect(await unreadHere.count()).toBe(0);
    await press("Escape");
  });

  test("the palette is used by keyboard alone", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await openPalette();
    await browser.examine("palette");
    await page.keyboard.type("fir");
    await expect.poll(() => selected().innerText()).toBe("first");
    await press("Enter");
    await page.waitForURL("**/@owner/first");
    await page.locator('.workspace-head [data-state="running"]').waitFor({ timeout: 60_000 });

    // What was chosen comes first, and its actions say why one of them cannot be done.
    await page.goto(`${server.url}/workspaces`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await openPalette();
    await expect.poll(() => selected().innerText()).toBe("first");
    await press("ArrowRight");
    const actions = page.getByRole("listbox", { name: t.palette.actionsOf("first") });
    const start = actions.getByRole("option").filter({ hasText: t.why.running });
    await expect.poll(() => start.innerText()).toMatch(new RegExp(`^${t.actions.start}\\s`));
    expect(await start.getAttribute("aria-disabled")).toBe("true");
    await browser.examine("palette-actions");
    await press("Escape");
    await page.getByRole("listbox", { name: t.palette.title, exact: true }).waitFor();

    // It does things with a workspace, and one sees them happen.
    await page.keyboard.type(`${t.actions.stop} first`);
    await expect.poll(() => selected().innerText()).toBe(t.actions.of(t.actions.stop, "first"));
    await press("Enter");
    await palette().locator('[data-state="stopped"]').waitFor({ timeout: 60_000 });
    const latest = async () =>
      (await api<{ latest_build: { status: string } }>("GET", "/users/owner/workspace/first")).body
        .latest_build.status;
    expect(await latest()).toBe("stopped");
    await page.keyboard.type(t.actions.start);
    await press("Enter");
    await expect.poll(latest, { timeout: 60_000 }).toBe("running");
    await press("Escape", "Escape");
    await palette().waitFor({ state: "detached" });

    await openPalette();
    await page.keyboard.type(t.palette.theme(t.nav.themes.dark));
    await press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    await openPalette();
    await page.keyboard.type(t.palette.theme(t.nav.themes.system));
    await press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
    await openPalette();
    await page.keyboard.type(t.palette.newFrom("local"));
    await press("Enter");
    await page.waitForURL("**/templates/local/workspace");
    await field(t.create.name).waitFor();
    await openPalette();
    await page.keyboard.type("no such thing");
    await page.getByText(t.palette.nothing("no such thing")).waitFor();
    await browser.examine("palette-nothing");
    await press("Escape");
  });

  test("what only the server knows comes behind, without moving the selection", async () => {
    const { page } = browser;
    const { body } = await api<{ id: string }[]>("GET", "/templates");
    const made = await api("POST", "/users/member/workspaces", {
      name: `first-of-member-${language}`,
      template_id: body[0]?.id,
    });
    expect(made.status).toBe(201);
    await page.goto(`${server.url}/templates`);
    await openPalette();
    await page.keyboard.type("first");
    await page.getByRole("group", { name: t.palette.groups.more }).waitFor();
    expect(await selected().innerText()).toBe("first");
    await press("ArrowUp");
    await expect.poll(() => selected().innerText()).toMatch(/^member\/first-of-member/);
    await press("Enter");
    await page.waitForURL("**/@member/first-of-member-*");
  });

  test("the list of keys, and keys that belong to fields", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/workspaces`);
    const list = page.getByRole("dialog", { name: t.palette.shortcuts });
    const search = page.getByRole("main").locator("input").first();
    await search.press("?");
    expect(await search.inputValue()).toContain("?");
    expect(await list.count()).toBe(0);
    await search.fill("");
    await search.press("Escape");
    await search.blur();
    await press("?");
    await list.waitFor();
    await browser.examine("shortcuts");
    await press("Escape");
    await list.waitFor({ state: "detached" });
  });

  test("the icon of the tab tells the state of a workspace", async () => {
    const { page } = browser;
    const icon = () => page.locator('link[rel="icon"]').getAttribute("href");
    await page.goto(`${server.url}/@owner/first?panel=resources`);
    await expect.poll(icon, { timeout: 60_000 }).toBe("/favicon-running.svg");
    expect((await fetch(`${server.url}/favicon-running.svg`)).headers.get("content-type")).toContain(
      "image/svg",
    );
    await openPalette();
    await page.keyboard.type(t.nav.templates);
    await press("Enter");
    await page.waitForURL("**/templates");
    await expect.poll(icon).toBe("/favicon.svg");
  });

  test("a small screen has a bar of four and the account, and all can be touched", async () => {
    const { page } = browser;
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${server.url}/templates`);
    const entries = page.locator(".nav .nav-item");
    await expect.poll(() => entries.count()).toBe(5);
    const words = await page.locator(".nav .nav-word").evaluateAll((all) =>
      all
        .slice(0, 4)
        .filter((each) => each.scrollWidth > each.clientWidth)
        .map((each) => each.textContent),
    );
    expect(words, "words that are cut off").toEqual([]);
    await page.getByRole("button", { name: t.palette.open }).click();
    await page.locator(".palette-more").first().click();
    await page.getByRole("listbox", { name: t.palette.actionsOf("first") }).waitFor();
    await button(t.palette.back).click();
    await page.getByRole("option", { name: t.nav.signOut }).click();
    await page.waitForURL("**/login");
    expect(await page.evaluate(async () => (await fetch("/api/v2/users/me")).status)).toBe(401);
  });

  test("nothing was complained of", () => {
    expect(browser.complaints).toEqual([]);
  });
});
