/** The way of a first user with the keyboard alone: no step here touches the mouse. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { en as t } from "../src/testing/texts";
import { Browser } from "./browser";
import { Keyboard } from "./keyboard";
import { Server } from "./server";

let server: Server;
let browser: Browser;
let keyboard: Keyboard;

beforeAll(async () => {
  server = await Server.start();
  browser = await Browser.start(server.url, "en");
  keyboard = new Keyboard(browser.page);
});

afterAll(async () => {
  await browser?.stop();
  await server?.stop();
});

const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
const link = (name: string) => browser.page.getByRole("link", { name, exact: true });
const field = (name: string) => browser.page.getByRole("textbox", { name });

test("set up, and make a template from a starter", async () => {
  const { page } = browser;
  await page.goto(server.url);
  await keyboard.write(field(t.setup.username), "owner");
  await keyboard.write(field(t.setup.email), "owner@example.org");
  await keyboard.write(page.getByLabel(t.setup.password, { exact: true }), "plain horses eat 7 apples");
  await keyboard.press("Enter");
  await page.waitForURL("**/workspaces");
  await keyboard.choose(page.getByRole("main").getByRole("link", { name: t.templates.create }));
  await keyboard.choose(link(t.editor.fresh.useStarter("Local")));
  await keyboard.choose(button(t.editor.fresh.submit));
  await page.getByText(t.editor.fresh.ready("Local")).waitFor({ timeout: 60_000 });
});

test("make a workspace, and use its terminal", async () => {
  const { page } = browser;
  await keyboard.choose(page.getByRole("main").getByRole("link", { name: t.editor.fresh.newWorkspace }));
  await keyboard.write(field(t.create.name), "first");
  await keyboard.press("Enter");
  await page.waitForURL("**/@owner/first");
  await page.getByText(t.status.running, { exact: true }).waitFor({ timeout: 60_000 });
  // The terminal takes the place of the log that was watched.
  await page.locator('section.terminal[data-state="connected"]').waitFor({ timeout: 30_000 });
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.className))
    .toBe("xterm-helper-textarea");
  const screen = () => page.locator(".xterm-rows").innerText();
  // The shell's prompt.
  await expect.poll(screen).toMatch(/\S/);
  await page.keyboard.type("echo $((40+2))\n");
  await expect.poll(screen).toMatch(/^42$/m);
  // Tab belongs to the program in the terminal.
  await keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.className)).toBe("xterm-helper-textarea");
  await keyboard.press("Control+F6");
  expect(await page.evaluate(() => document.activeElement?.className)).not.toBe("xterm-helper-textarea");
  await keyboard.choose(link(t.workspace.panels.log));
  await page.getByText("Apply complete!").waitFor();
});

test("stop it by the command palette, and delete it by its name", async () => {
  const { page } = browser;
  await keyboard.press("Control+K");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("stop first");
  const wanted = page.getByRole("option", { selected: true }).filter({ hasText: t.actions.stop });
  await wanted.waitFor();
  await keyboard.press("Enter");
  await page.getByText(t.status.stopped, { exact: true }).first().waitFor({ timeout: 60_000 });
  await page.goto(`${server.url}/@owner/first`);
  await keyboard.choose(link(t.workspace.panels.settings));
  await keyboard.choose(button(t.workspacePage.settings.deleteButton));
  await keyboard.write(page.getByRole("dialog").getByRole("textbox"), "first");
  await keyboard.press("Enter");
  await page.waitForURL("**/workspaces");
  await page.getByText(t.workspaces.emptyTitle).waitFor({ timeout: 60_000 });
  expect(browser.complaints).toEqual([]);
});
