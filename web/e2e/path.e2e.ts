/** The way of a first user, without a terminal but the one in the page: set up, sign in, create, watch, type, stop. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language } from "./browser";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

describe.each(languages)("in %s", (language, t) => {
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    server = await Server.start();
    browser = await Browser.start(server.url, language);
  });

  afterAll(async () => {
    await server?.coder("delete", "first", "--yes").catch(() => undefined);
    await browser?.stop();
    await server?.stop();
  });

  const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
  const field = (name: string) => browser.page.getByRole("textbox", { name });

  test("the first visitor sets up, and is told of a weak password", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/`);
    await page.waitForURL("**/setup");
    await field(t.setup.username).fill("owner");
    await field(t.setup.email).fill(EMAIL);
    const password = page.getByLabel(t.setup.password, { exact: true });
    await password.fill("abc");
    await password.blur();
    await page.getByRole("alert").waitFor();
    await browser.examine("setup");
    await password.fill(PASSWORD);
    await button(t.setup.submit).click();
    await page.waitForURL("**/workspaces");
    await page.getByText(t.workspaces.noTemplateTitle).waitFor();
    await browser.examine("no-template");
  });

  test("signing out and in again, with a wrong password first, leads back", async () => {
    const { page } = browser;
    await page.getByRole("button", { name: t.nav.account }).click();
    await page.getByRole("menuitem", { name: t.nav.signOut }).click();
    await page.waitForURL("**/login");
    await page.goto(`${server.url}/workspaces?filter=status%3Arunning`);
    await page.waitForURL("**/login?**");
    await field(t.login.email).fill(EMAIL);
    await page.getByLabel(t.login.password, { exact: true }).fill("wrong");
    await button(t.login.submit).click();
    await page.getByText(t.login.wrongNext).waitFor();
    await browser.examine("login");
    await page.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
    await button(t.login.submit).click();
    await page.waitForURL("**/workspaces?filter=status*");
  });

  test("a template is made from the starter gallery", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/workspaces`);
    await page.getByRole("main").getByRole("link", { name: t.templates.create }).click();
    await page.getByRole("link", { name: t.editor.fresh.useStarter("Local") }).click();
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.fresh.ready("Local")).waitFor({ timeout: 60_000 });
  });

  test("a workspace is made from it, and its log can be read and searched", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/workspaces`);
    await page.getByRole("main").getByRole("link", { name: t.workspaces.emptyAction }).click();
    await page.getByRole("link", { name: "local" }).waitFor();
    await browser.examine("choose");
    await page.getByRole("link", { name: "local" }).click();
    await field(t.create.name).fill("first");
    await browser.examine("create");
    await button(t.create.submit).click();
    await page.waitForURL("**/@owner/first");
    await page.getByText(t.status.running, { exact: true }).waitFor({ timeout: 60_000 });

    await page.getByRole("link", { name: t.workspace.panels.log }).click();
    await page.getByText("Apply complete!").waitFor();
    await field(t.log.search).fill("plan to create");
    await page.getByText(t.log.matches(1, 4)).waitFor();
    await page.getByText(/GiB/).first().waitFor({ timeout: 30_000 });
    await browser.examine("log", { at: ".log" });
    await field(t.log.search).fill("");

    // It follows the end, and lets go when one scrolls up.
    await page.setViewportSize({ width: 1440, height: 480 });
    await page.reload();
    await page.getByText("Cleaning Up").waitFor();
    const follow = button(t.log.follow);
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("true");
    await page.locator(".log-lines").hover();
    await page.mouse.wheel(0, -200);
    await expect.poll(() => follow.getAttribute("aria-pressed")).toBe("false");
    await page.setViewportSize({ width: 1440, height: 900 });

    const line = page.locator(".log-line", { hasText: "Apply complete!" });
    await line.hover();
    await line.getByRole("button").click();
    await page.waitForURL(/line=\d+/);
  });

  test("the terminal answers, and is still there after the server was", async () => {
    const { page } = browser;
    await page.getByRole("link", { name: t.workspace.panels.terminal, exact: true }).click();
    await page.locator('.terminal[data-state="connected"]').waitFor({ timeout: 30_000 });
    const screen = page.locator(".xterm-rows");
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("echo $((40+2))\n");
    await expect.poll(() => screen.innerText()).toMatch(/^42$/m);
    await page.getByText(/GiB/).first().waitFor({ timeout: 30_000 });
    await browser.examine("terminal", { at: ".terminal" });

    await server.halt();
    await page.getByText(t.connection.lost).waitFor({ timeout: 30_000 });
    await server.launch();
    await page.getByText(t.connection.lost).waitFor({ state: "detached", timeout: 30_000 });
    await page.locator('.terminal[data-state="connected"]').waitFor({ timeout: 60_000 });
    await expect.poll(() => screen.innerText()).toMatch(/^42$/m);
  });

  test("builds, resources and parameters are there", async () => {
    const { page } = browser;
    for (const panel of ["builds", "resources", "parameters"] as const) {
      await page.getByRole("link", { name: t.workspace.panels[panel], exact: true }).click();
      await page.waitForURL(`**panel=${panel}`);
      await page.locator(".panel > :not(.skeleton)").waitFor();
      await browser.examine(panel);
    }
  });

  test("the list shows it live, and stops it", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/workspaces`);
    const row = page.locator('[data-workspace="first"]');
    await row.getByText(t.status.running, { exact: true }).waitFor();
    await browser.examine("workspaces");
    await page.getByRole("button", { name: t.actions.of(t.actions.stop, "first") }).click();
    await row.getByText(t.status.stopped, { exact: true }).waitFor({ timeout: 60_000 });
    await row.getByRole("link", { name: "first" }).click();
    await page.getByRole("link", { name: t.workspace.panels.terminal, exact: true }).click();
    await page.getByText(t.workspace.stoppedTitle).waitFor();
    await browser.examine("stopped");
  });

  test("it is deleted by its name", async () => {
    const { page } = browser;
    await page.getByRole("link", { name: t.workspace.panels.settings, exact: true }).click();
    await button(t.workspacePage.settings.deleteButton).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill("first");
    await dialog.getByRole("button", { name: t.workspacePage.deletion.action, exact: true }).click();
    await page.waitForURL("**/workspaces");
    await page.getByText(t.workspaces.emptyTitle).waitFor({ timeout: 60_000 });
  });

  test("an address that leads nowhere says so, and nothing was complained of", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/@owner/nothing`);
    await page.getByText(t.errors.notFound).waitFor();
    await browser.examine("not-found");
    expect(browser.complaints).toEqual([]);
  });
});
