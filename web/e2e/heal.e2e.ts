/** The server goes away and comes back under every page: each heals without being loaded again. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { en as t } from "../src/testing/texts";
import { Browser } from "./browser";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";
const WORKSPACE = "/@owner/first";
const TEMPLATE = "/templates/local";

let server: Server;
let browser: Browser;

beforeAll(async () => {
  server = await Server.start();
  await server.pushTemplate(EMAIL, PASSWORD);
  await server.coder("create", "first", "-t", "local", "-y");
  browser = await Browser.start(server.url, "en");
});

afterAll(async () => {
  await server?.coder("delete", "first", "-y").catch(() => undefined);
  await browser?.stop();
  await server?.stop();
});

/** Every page behind the sign-in. */
async function addresses(): Promise<string[]> {
  const versions = await server.coder("templates", "versions", "list", "local", "-c", "name");
  const version = `${TEMPLATE}/versions/${versions.trim().split("\n").at(-1)?.trim()}`;
  const panels = ["log", "builds", "agents", "ports", "resources", "parameters", "settings", "terminal"];
  return [
    "/workspaces",
    "/workspaces/new",
    ...panels.map((panel) => `${WORKSPACE}?panel=${panel}`),
    "/templates",
    "/templates/new",
    ...[
      "",
      "/versions",
      "/insights",
      "/embed",
      "/settings",
      "/settings/schedule",
      "/settings/variables",
      "/settings/permissions",
    ].map((part) => TEMPLATE + part),
    `${TEMPLATE}/workspace`,
    ...["files", "changes", "log", "resources", "parameters"].map((panel) => `${version}?panel=${panel}`),
    `${version}/edit`,
    ...["users", "members", "provisioners", "jobs", "audit", "deployment", "health"].map(
      (page) => `/admin/${page}`,
    ),
    ...["account", "security", "appearance", "schedule", "tokens", "ssh-keys", "notifications"].map(
      (page) => `/settings/${page}`,
    ),
  ];
}

const heading = (page: Page) => page.locator("h1").first().innerText();

test("a server that was away is there again on every page", async () => {
  const { page: first } = browser;
  await first.goto(`${server.url}/login`);
  await first.getByRole("textbox", { name: t.login.email }).fill(EMAIL);
  await first.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
  await first.getByRole("button", { name: t.login.submit, exact: true }).click();
  await first.waitForURL("**/workspaces");

  const open: { address: string; page: Page; title: string }[] = [];
  for (const address of await addresses()) {
    const page = await browser.another();
    await page.goto(server.url + address);
    await page.locator("h1").first().waitFor();
    await expect.poll(() => page.locator(".skeleton").count(), { message: address }).toBe(0);
    await page.evaluate(() => Object.assign(window, { loadedOnce: true }));
    open.push({ address, page, title: await heading(page) });
  }
  const terminal = open.find(({ address }) => address.endsWith("terminal"))?.page;
  if (!terminal) throw new Error("no page has a terminal");
  await terminal.locator('section.terminal[data-state="connected"]').waitFor();
  const screen = () => terminal.locator(".xterm-rows").innerText();
  // The shell's prompt.
  await expect.poll(screen).toMatch(/\S/);
  await terminal.locator(".xterm-helper-textarea").focus();
  await terminal.keyboard.type("echo $((40+2))\n");
  await expect.poll(screen).toMatch(/^42$/m);

  await server.halt();
  await terminal.getByText(t.connection.lost).waitFor({ timeout: 30_000 });
  // Somebody looks at a page that asks for more while nobody answers.
  const list = open[0]?.page;
  await list?.getByText(t.connection.lost).waitFor({ timeout: 30_000 });
  await server.launch();

  for (const { address, page, title } of open) {
    await page.getByText(t.connection.lost).waitFor({ state: "detached", timeout: 30_000 });
    expect(await heading(page), address).toBe(title);
    expect(await page.getByRole("alert").allInnerTexts(), address).toEqual([]);
    const kept = await page.evaluate(() => (window as unknown as { loadedOnce?: boolean }).loadedOnce);
    expect(kept, `${address} was loaded again`).toBe(true);
  }
  await terminal.locator('section.terminal[data-state="connected"]').waitFor({ timeout: 60_000 });
  await expect.poll(screen).toMatch(/^42$/m);
  expect(browser.complaints).toEqual([]);
}, 300_000);
