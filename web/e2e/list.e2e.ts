/** The list of workspaces: live, searched with suggestions by keyboard, and several done with at once. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en } from "../src/i18n/en";
import { fr } from "../src/i18n/fr";
import { Browser, type Language, nameIn } from "./browser";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

/** By name they stand as one, three, two. */
const NAMES = { one: "api-server", two: "data-lab", three: "build-cache" };

let server: Server;

beforeAll(async () => {
  server = await Server.start();
  await server.pushTemplate(EMAIL, PASSWORD);
});

afterAll(async () => {
  await server?.stop();
});

describe.each(languages)("in %s", (language, t) => {
  let browser: Browser;
  const name = (of: keyof typeof NAMES) => nameIn(language, NAMES[of]);

  beforeAll(async () => {
    browser = await Browser.start(server.url, language);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const row = (of: keyof typeof NAMES) => browser.page.locator(`[data-workspace="${name(of)}"]`);
  const choose = (of: keyof typeof NAMES) =>
    browser.page.getByRole("checkbox", { name: t.actions.of(t.workspaces.bulk.choose, name(of)) });
  const button = (text: string) => browser.page.getByRole("button", { name: text, exact: true });
  const create = (of: keyof typeof NAMES) => server.coder("create", name(of), "--template", "local", "--yes");

  test("who has no workspace is led to a template", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/login`);
    await page.getByRole("textbox", { name: t.login.email }).fill(EMAIL);
    await page.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
    await button(t.login.submit).click();
    await page.waitForURL("**/workspaces");
    await page.getByText(t.workspaces.emptyTitle).waitFor();
    await browser.examine("list-empty");
    await page.getByRole("main").getByRole("link", { name: t.workspaces.emptyAction }).click();
    await page.getByRole("link", { name: "local" }).waitFor();
    await page.goBack();
  });

  test("a workspace that is made elsewhere appears, with its stage, and is there when it runs", async () => {
    const { page } = browser;
    await page.getByText(t.workspaces.emptyTitle).waitFor();
    const made = create("one");
    // All stages that are shown, in order; they pass faster than one could ask for them.
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const text = document.querySelector(".row-schedule")?.textContent ?? "";
        if (seen.at(-1) !== text) seen.push(text);
      }).observe(document.body, { childList: true, characterData: true, subtree: true });
    });
    await row("one").waitFor();
    await made;
    await row("one").getByText(t.status.running, { exact: true }).waitFor({ timeout: 60_000 });
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    const stages = [...Object.values(t.workspaces.stages), ...Object.values(t.workspaces.steps)];
    expect(stages.some((stage) => seen.some((text) => text.includes(`${stage} ·`)))).toBe(true);
    // From here on the stream alone tells of it.
    const asked: string[] = [];
    page.on("request", (request) => {
      if (/\/api\/v2\/workspaces\?/.test(request.url())) asked.push(request.url());
    });
    await create("two");
    await create("three");
    await row("three").getByText(t.status.running, { exact: true }).waitFor();
    expect(asked).toEqual([]);
    await browser.examine("list-alike");
  });

  test("keys and values are offered, and taken by keyboard", async () => {
    const { page } = browser;
    const field = page.getByRole("combobox", { name: t.workspaces.search });
    await field.fill("");
    await field.press("ArrowDown");
    await browser.examine("list-suggestions");
    await page.getByRole("option", { name: "owner:" }).waitFor();
    await field.pressSequentially("sta");
    await field.press("ArrowDown");
    const option = page.getByRole("option", { name: "status:" });
    await expect.poll(() => option.getAttribute("aria-selected")).toBe("true");
    expect(await field.getAttribute("aria-activedescendant")).toBe(await option.getAttribute("id"));
    await field.press("Enter");
    expect(await field.inputValue()).toBe("status:");
    await field.pressSequentially("stopped");
    await field.press("Escape");
    await field.press("Enter");
    await page.waitForURL("**/workspaces?filter=status*stopped");
    await page.getByText(t.workspaces.nothingTitle).waitFor();
    await field.fill("status:asleep");
    await page.getByRole("alert").getByText("status", { exact: true }).waitFor();
    await browser.examine("list-refused");
    await field.fill("owner:me");
    await field.press("Enter");
    await row("one").waitFor();
  });

  test("several are stopped and started at once, and what cannot be is said at its row", async () => {
    const { page } = browser;
    await choose("one").check();
    await choose("two").click({ modifiers: ["Shift"] });
    // By name: one, three, two.
    await page.getByText(t.workspaces.bulk.chosen(3)).waitFor();
    await browser.examine("list-chosen");
    await choose("three").uncheck();
    await button(t.workspaces.bulk.stop).click();
    await row("one").getByText(t.status.stopped, { exact: true }).waitFor({ timeout: 60_000 });
    await row("two").getByText(t.status.stopped, { exact: true }).waitFor({ timeout: 60_000 });
    await row("three").getByText(t.status.running, { exact: true }).waitFor();

    await page.getByRole("checkbox", { name: t.workspaces.bulk.all }).click();
    await page.getByRole("checkbox", { name: t.workspaces.bulk.all }).check();
    await button(t.workspaces.bulk.start).click();
    await row("three").getByText(t.actions.of(t.workspaces.bulk.skipped, t.why.running)).waitFor();
    await page.getByText(t.actions.of(t.workspaces.bulk.start, t.workspaces.bulk.summary(2, 1, 0))).waitFor();
    await browser.examine("list-result");
    for (const each of ["one", "two"] as const) {
      await row(each).getByText(t.status.running, { exact: true }).waitFor({ timeout: 60_000 });
    }
  });

  test("a favorite is marked at once and comes first", async () => {
    const { page } = browser;
    await page.getByRole("button", { name: t.actions.of(t.common.more, name("two")) }).click();
    await page.getByRole("menuitem", { name: t.actions.favor }).click();
    await row("two").getByLabel(t.workspaces.favorite).waitFor();
    const first = page.locator("[data-workspace]").first();
    await expect.poll(() => first.getAttribute("data-workspace")).toBe(name("two"));
    // A list as one has it: one runs until the evening, one waits for the morning.
    await server.coder("schedule", "start", name("three"), "9:00AM", "Mon-Fri", "Europe/Paris");
    await server.coder("schedule", "stop", name("one"), "8h");
    await server.coder("stop", name("three"), "--yes");
    await server.coder("restart", name("one"), "--yes");
    await row("three").getByText(t.status.stopped, { exact: true }).waitFor();
    await row("one").getByText(t.status.running, { exact: true }).waitFor();
    // Nothing is chosen any more.
    await page.reload();
    await row("one").waitFor();
    await browser.examine("list");
  });

  test("the page of a row is there at once, from what the list knows", async () => {
    const { page } = browser;
    await page.route("**/api/v2/users/*/workspace/*", () => undefined);
    await row("one")
      .getByRole("link", { name: name("one"), exact: true })
      .click();
    await page.getByRole("heading", { level: 1, name: name("one") }).waitFor();
    await page.getByText(t.status.running, { exact: true }).waitFor();
    await page.unroute("**/api/v2/users/*/workspace/*");
    await page.goto(`${server.url}/workspaces`);
  });

  test("deleting asks for the number, and what is gone leaves the list", async () => {
    const { page } = browser;
    await row("one").waitFor();
    await page.getByRole("checkbox", { name: t.workspaces.bulk.all }).check();
    await button(t.workspaces.bulk.delete).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(t.workspaces.bulk.deleteTitle(3)).waitFor();
    await browser.examine("list-delete");
    const typed = dialog.getByRole("textbox");
    await typed.fill("2");
    await expect
      .poll(() =>
        dialog.getByRole("button", { name: t.workspaces.bulk.delete }).getAttribute("aria-disabled"),
      )
      .toBe("true");
    await typed.fill("3");
    await dialog.getByRole("button", { name: t.workspaces.bulk.delete }).click();
    await page.getByText(t.workspaces.emptyTitle).waitFor({ timeout: 60_000 });
    expect(browser.complaints).toEqual([]);
  });
});
