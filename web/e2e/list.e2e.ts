/** The list of workspaces: live, searched with suggestions by keyboard, and several done with at once. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
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

/** A parameter that has to be given, as a new version of the template asks for it. */
const PARAMETER = "region";
const ASKS = `\ndata "coder_parameter" "${PARAMETER}" {\n  name    = "${PARAMETER}"\n  mutable = true\n}\n`;

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
    // By name, once the list has been read again.
    const order = () =>
      page
        .locator("[data-workspace]")
        .evaluateAll((rows) => rows.map((each) => each.getAttribute("data-workspace")));
    await expect.poll(order).toEqual(["one", "three", "two"].map((of) => name(of as keyof typeof NAMES)));
    await choose("one").check();
    await choose("two").click({ modifiers: ["Shift"] });
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

  test("a version that needs values is updated to only with them", async () => {
    const { page } = browser;
    const file = join(server.directory, "local", "main.tf");
    const before = await readFile(file, "utf8");
    const push = () => server.coder("templates", "push", "local", "-d", "local", "--yes");
    const api = async (path: string, init: RequestInit = {}) => {
      const session = (await page.context().cookies()).find(({ name }) => name === "coder_session_token");
      const headers = { "Coder-Session-Token": session?.value ?? "" };
      return fetch(`${server.url}/api/v2/${path}`, { ...init, headers });
    };
    const latest = async (of: keyof typeof NAMES) => {
      const { latest_build, id } = await (await api(`users/me/workspace/${name(of)}`)).json();
      const values = await (await api(`workspacebuilds/${latest_build.id}/parameters`)).json();
      return { id, number: latest_build.build_number, status: latest_build.status, values };
    };
    const dialog = page.getByRole("dialog").filter({ hasText: t.workspacePage.update.asks });
    const give = async (of: keyof typeof NAMES, value: string) => {
      await dialog.getByText(t.workspacePage.update.asked.new).waitFor();
      await dialog.getByRole("textbox", { name: PARAMETER }).fill(value);
      await dialog.getByRole("button", { name: t.workspacePage.update.action, exact: true }).click();
      await dialog.waitFor({ state: "detached", timeout: 60_000 });
      await expect
        .poll(() => latest(of), { timeout: 60_000 })
        .toMatchObject({ status: "running", values: [{ name: PARAMETER, value }] });
    };
    const { number } = await latest("two");
    await api(`workspaces/${(await latest("two")).id}/autoupdates`, {
      method: "PUT",
      body: JSON.stringify({ automatic_updates: "always" }),
    });
    await writeFile(file, before + ASKS);
    await push();
    await page.reload();
    await row("three").getByText(t.status.outdated, { exact: true }).waitFor();

    // Of several: the bar says which need values, and leads to where they are given.
    await page.getByRole("checkbox", { name: t.workspaces.bulk.all }).check();
    await button(t.workspaces.bulk.update).click();
    await page.getByText(t.workspaces.bulk.needy(3)).waitFor();
    await row("two").getByText(t.why.needsValues).waitFor();
    await browser.examine("list-needs-values");
    await button(`owner/${name("one")}`).click();
    await give("one", "lyon");
    await page.getByText(t.workspaces.bulk.needy(2)).waitFor();

    // From a row: a restart takes the new version where the workspace follows it.
    await page.getByRole("button", { name: t.actions.of(t.common.more, name("two")) }).click();
    await page.getByRole("menuitem", { name: t.actions.restart }).click();
    await give("two", "nice");
    expect((await latest("two")).number).toBe(number + 2);

    // From the palette.
    await page.keyboard.press("Control+K");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type(`${t.actions.update} ${name("three")}`);
    const wanted = page.getByRole("option", { selected: true }).filter({ hasText: t.actions.update });
    await wanted.waitFor();
    await page.keyboard.press("Enter");
    await give("three", "paris");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByText(t.workspaces.bulk.needy(1)).waitFor({ state: "detached" });

    // As it was, for whoever makes a workspace next.
    await writeFile(file, before);
    await push();
    await page.reload();
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
