/** The page of a workspace: every panel, its settings with their effect, terminals, and a server that goes away. */

import { access, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language, nameIn } from "./browser";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";

interface Workspace {
  id: string;
  name: string;
  autostart_schedule?: string;
  ttl_ms?: number;
  automatic_updates: string;
  dormant_at: string | null;
  outdated: boolean;
  latest_build: { id: string; build_number: number; status: string; template_version_name: string };
}

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

let server: Server;
/** Parameters that the template has come to ask for. */
const asked: string[] = [];

/** Pushes a version of the template with more in it. */
async function extend(text: string, message: string) {
  const file = join(server.directory, "local", "main.tf");
  await writeFile(file, `${await readFile(file, "utf8")}\n${text}`);
  await server.coder("templates", "push", "local", "-d", "local", "--yes", "--message", message);
}

/** Pushes a version of the template that asks for one value more. */
async function askFor(parameter: string, message: string) {
  await extend(
    `data "coder_parameter" "${parameter}" {\n  name    = "${parameter}"\n  mutable = true\n}\n`,
    message,
  );
  asked.push(parameter);
}

/** What the command line is told of the parameters, so that it does not ask. */
const answers = () => asked.flatMap((each) => ["--parameter", `${each}=paris`]);

beforeAll(async () => {
  // Read by the server at its start: names can be changed only where the deployment allows it.
  process.env.CODER_ALLOW_WORKSPACE_RENAMES = "true";
  server = await Server.start();
  await fetch(`${server.url}/api/v2/users/first`, {
    method: "POST",
    body: JSON.stringify({ email: EMAIL, username: "owner", password: PASSWORD }),
  });
  await server.pushTemplate(EMAIL, PASSWORD);
});

afterAll(async () => {
  await server?.stop();
  delete process.env.CODER_ALLOW_WORKSPACE_RENAMES;
});

describe.each(languages)("in %s", (language, t) => {
  const first = nameIn(language, "data-lab");
  const name = nameIn(language, "api-server");
  const words = t.workspacePage;
  let browser: Browser;

  beforeAll(async () => {
    await server.coder("create", first, "--template", "local", "--yes", ...answers());
    browser = await Browser.start(server.url, language);
    browser.page.setDefaultTimeout(60_000);
    await signIn(browser, EMAIL);
  });

  afterAll(async () => {
    await server?.coder("delete", first, "--yes").catch(() => undefined);
    await server?.coder("delete", name, "--yes").catch(() => undefined);
    await browser?.stop();
  });

  const button = (text: string) => browser.page.getByRole("button", { name: text, exact: true });
  const main = () => browser.page.getByRole("main");

  async function signIn({ page }: Browser, email: string) {
    await page.goto(`${server.url}/login`);
    await page.getByRole("textbox", { name: t.login.email }).fill(email);
    await page.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: t.login.submit, exact: true }).click();
    await page.waitForURL("**/workspaces");
  }

  /** What the server has, asked with the session of the page. */
  async function api<T>(path: string): Promise<T> {
    return browser.page.evaluate(async (at) => (await fetch(`/api/v2${at}`)).json(), path) as Promise<T>;
  }
  const workspace = (of: string) => api<Workspace>(`/users/me/workspace/${of}`);

  const values = async () =>
    api<{ name: string; value: string }[]>(
      `/workspacebuilds/${(await workspace(name)).latest_build.id}/parameters`,
    );

  async function open(panel: keyof typeof t.workspace.panels, of = name) {
    await browser.page.goto(`${server.url}/@owner/${of}?panel=${panel}`);
    await browser.page.locator(".panel > :not(.skeleton)").first().waitFor();
  }

  test("the schedule is said in words, saved, and refused at the field", async () => {
    const { page } = browser;
    await open("settings", first);
    const { settings } = words;
    await page.getByText(settings.outcome.startsByHand).waitFor();
    await page.getByLabel(settings.autostart, { exact: true }).check();
    await page.getByLabel(settings.time, { exact: true }).fill("08:30");
    await page.getByLabel(settings.zone, { exact: true }).selectOption("Europe/Paris");
    await page.getByLabel(settings.autostop, { exact: true }).check();
    await page.getByLabel(settings.hours, { exact: true }).fill("8");
    const days = language === "fr" ? "lun.–ven." : "Mon–Fri";
    await page.getByText(settings.outcome.startsAt(days, "08:30", "Europe/Paris")).waitFor();
    await browser.examine("settings");
    await button(settings.save).click();
    await page.getByText(t.common.saved, { exact: true }).waitFor();
    expect(await workspace(first)).toMatchObject({
      autostart_schedule: "CRON_TZ=Europe/Paris 30 8 * * 1-5",
      ttl_ms: 8 * 3_600_000,
    });

    await page.getByLabel(settings.hours, { exact: true }).fill("2000");
    await button(settings.save).click();
    await page.locator(".field-error").waitFor();
    expect((await workspace(first)).ttl_ms).toBe(8 * 3_600_000);

    await page.getByLabel(settings.autostop, { exact: true }).uncheck();
    await page.getByLabel(settings.autostart, { exact: true }).uncheck();
    await button(settings.save).click();
    await expect.poll(async () => (await workspace(first)).autostart_schedule ?? "").toBe("");
    // The schedule and the stop are two requests.
    await expect.poll(async () => (await workspace(first)).ttl_ms ?? 0).toBe(0);
  });

  test("automatic updates are switched on and off", async () => {
    const { page } = browser;
    const box = page.getByLabel(words.settings.updatesAlways, { exact: true });
    await box.check();
    await expect.poll(async () => (await workspace(first)).automatic_updates).toBe("always");
    await box.uncheck();
    await expect.poll(async () => (await workspace(first)).automatic_updates).toBe("never");
  });

  test("a new name is checked by the server, and the address follows", async () => {
    const { page } = browser;
    await open("settings", first);
    const field = page.getByRole("textbox", { name: words.settings.name, exact: true });
    await field.fill("not a name");
    await button(words.settings.rename).click();
    await page.locator(".field-error").waitFor();
    await field.fill(name);
    await button(words.settings.rename).click();
    await page.waitForURL(`**/@owner/${name}?panel=settings`);
    expect((await workspace(name)).name).toBe(name);
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  });

  test("a build tells where its time went, as a chart and as a table", async () => {
    const { page } = browser;
    await open("builds");
    await browser.examine("builds");
    await page.getByRole("link", { name: words.builds.number(1), exact: true }).click();
    await page.waitForURL("**panel=builds&build=1");
    const apply = page.locator('[data-stage="apply"]');
    await apply.waitFor();
    for (const stage of ["queued", "plan", "connect"]) {
      expect(await page.locator(`[data-stage="${stage}"]`).count(), stage).toBe(1);
    }
    await apply.getByRole("button", { name: words.stages.apply }).click();
    await apply.getByText("terraform_data.home").waitFor();
    await browser.examine("timings");
    await button(words.timeline.asTable).click();
    await page.getByRole("cell", { name: "terraform_data.home" }).first().waitFor();
    await browser.examine("timings-table");
    const saved = page.waitForEvent("download");
    await button(words.builds.download).click();
    expect((await saved).suggestedFilename()).toMatch(/\.log$/);
  });

  test("an update says what changes, and asks for what the workspace lacks", async () => {
    const { page } = browser;
    const parameter = language === "en" ? "region" : `region_${language}`;
    await askFor(parameter, `Adds ${parameter}`);
    await open("builds");
    await page.getByText(words.outdatedTitle).waitFor();
    await button(words.outdatedChanges(1)).click();
    await page.getByText(`Adds ${parameter}`).waitFor();
    await browser.examine("outdated");
    await main().getByRole("button", { name: t.actions.update, exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(words.update.asked.new).waitFor();
    await dialog.getByRole("textbox", { name: parameter }).fill("lyon");
    await browser.examine("update");
    await dialog.getByRole("button", { name: words.update.action, exact: true }).click();
    await page.waitForURL(`**/@owner/${name}`);
    await expect
      .poll(async () => (await workspace(name)).latest_build.status, { timeout: 60_000 })
      .toBe("running");
    expect((await workspace(name)).outdated).toBe(false);
    await page.getByText(words.outdatedTitle).waitFor({ state: "detached" });
    expect(await values()).toContainEqual({ name: parameter, value: "lyon" });
  });

  test("a build is made with new values", async () => {
    const { page } = browser;
    const parameter = language === "en" ? "region" : `region_${language}`;
    const before = (await workspace(name)).latest_build.build_number;
    await open("parameters");
    const build = button(words.parameters.build);
    expect(await build.getAttribute("aria-disabled")).toBe("true");
    await page.getByRole("textbox", { name: parameter }).fill("nice");
    await browser.examine("parameters");
    await build.click();
    await page.waitForURL(`**/@owner/${name}`);
    await expect
      .poll(async () => (await workspace(name)).latest_build, { timeout: 60_000 })
      .toMatchObject({ status: "running", build_number: before + 1 });
    expect(await values()).toContainEqual({ name: parameter, value: "nice" });
    // Whoever has watched the log has the terminal after it.
    await page.locator('.terminal[data-state="connected"]').waitFor();
  });

  test("another version is built from the page of a build, and chosen from the menu", async () => {
    const { page } = browser;
    const { template_version_name: active, build_number: before } = (await workspace(name)).latest_build;
    const { template_version_name: old } = await api<Workspace["latest_build"]>(
      `/users/me/workspace/${name}/builds/1`,
    );
    expect(old).not.toBe(active);
    await page.goto(`${server.url}/@owner/${name}?panel=builds&build=1`);
    await button(words.builds.withVersion).click();
    const dialog = page.getByRole("dialog", { name: words.update.title(old), exact: true });
    await dialog.getByText(words.update.nothingAsked).waitFor();
    await dialog.getByRole("button", { name: words.update.action, exact: true }).click();
    const built = async () => (await workspace(name)).latest_build;
    await expect
      .poll(built, { timeout: 60_000 })
      .toMatchObject({ status: "running", build_number: before + 1, template_version_name: old });
    await page.getByText(words.outdatedTitle).waitFor();

    // One that has been built already offers its version no more than the one that runs.
    await page.goto(`${server.url}/@owner/${name}?panel=builds&build=${before + 1}`);
    await button(words.builds.again).waitFor();
    expect(await button(words.builds.withVersion).count()).toBe(0);

    await button(t.common.more).first().click();
    await page.getByRole("menuitem", { name: words.changeVersion, exact: true }).click();
    const choice = page.getByRole("dialog", { name: words.update.changeTitle, exact: true });
    const versions = choice.getByLabel(words.update.version, { exact: true });
    await versions.selectOption({ label: words.update.versionOption(active, words.activeVersion) });
    // What the workspace has once been given is not asked for again, what it lacks is.
    const missing = choice.getByRole("textbox").first();
    await missing.waitFor();
    await browser.examine("change-version");
    await missing.fill("nice");
    await choice.getByRole("button", { name: words.update.changeAction, exact: true }).click();
    await expect
      .poll(built, { timeout: 60_000 })
      .toMatchObject({ status: "running", build_number: before + 2, template_version_name: active });
    await page.getByText(words.outdatedTitle).waitFor({ state: "detached" });
  });

  test("whoever may only look is told so, and can change nothing", async () => {
    const looker = nameIn(language, "viewer");
    await server.coder(
      ...[
        "users",
        "create",
        "--username",
        looker,
        "--email",
        `${looker}@example.org`,
        "--password",
        PASSWORD,
      ],
    );
    await server.coder("users", "edit-roles", looker, "--roles", "template-admin", "--yes");
    const other = await Browser.start(server.url, language);
    try {
      const { page } = other;
      page.setDefaultTimeout(60_000);
      await signIn(other, `${looker}@example.org`);
      await page.goto(`${server.url}/@owner/${name}?panel=settings`);
      await page.getByText(words.lookOnly("owner")).first().waitFor();
      for (const action of [words.settings.save, words.settings.rename, words.settings.deleteButton]) {
        const found = page.getByRole("button", { name: action, exact: true });
        await expect.poll(() => found.getAttribute("aria-disabled"), { message: action }).toBe("true");
      }
      await other.examine("look-only");
      await page.getByRole("link", { name: t.workspace.panels.terminal, exact: true }).click();
      await page.getByRole("heading", { name: t.why.notAllowed }).waitFor();
    } finally {
      await other.stop();
    }
  });

  test("ports are listed with the command that reaches them, and shared", async () => {
    const { page } = browser;
    // A program that listens, in the workspace.
    await open("terminal");
    await page.locator('.terminal[data-state="connected"]').waitFor({ timeout: 30_000 });
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type(
      `node -e 'const s=require("net").createServer().listen(0,"127.0.0.1",()=>console.log("port",s.address().port))'\n`,
    );
    const screen = page.locator(".xterm-rows");
    await expect.poll(() => screen.innerText()).toMatch(/^port \d+$/m);
    const port = /^port (\d+)$/m.exec(await screen.innerText())?.[1] ?? "";

    await page.getByRole("link", { name: t.workspace.panels.ports, exact: true }).click();
    await page.getByText(`coder port-forward ${name} --tcp ${port}`).waitFor({ timeout: 30_000 });
    const { ports } = words;
    const form = page.getByRole("form", { name: ports.shareTitle });
    await form.getByLabel(ports.port).fill("3");
    await form.getByRole("button", { name: ports.share }).click();
    await form.locator(".field-error").waitFor();
    await form.getByLabel(ports.port).fill(port);
    await form.getByRole("button", { name: ports.share }).click();
    const stop = button(ports.unshare(Number(port)));
    await stop.waitFor();
    await browser.examine("ports");
    const { id } = await workspace(name);
    const shares = () => api<{ shares: { port: number }[] }>(`/workspaces/${id}/port-share`);
    expect((await shares()).shares).toMatchObject([{ port: Number(port), share_level: "owner" }]);
    await stop.click();
    await page.getByText(ports.noneShared).waitFor();
    expect((await shares()).shares).toEqual([]);
  });

  test("two terminals are apart, and both are there after a reload", async () => {
    const { page } = browser;
    await open("terminal");
    const shown = page.locator("section.terminal:not([hidden])");
    const ready = () =>
      page.locator('section.terminal:not([hidden])[data-state="connected"]').waitFor({ timeout: 30_000 });
    const type = async (text: string) => {
      await shown.locator(".xterm-helper-textarea").focus();
      await page.keyboard.type(text);
    };
    await ready();
    await page.keyboard.press("Control+C");
    await type("echo one-$((40+1))\n");
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^one-41$/m);
    await button(words.terminal.add).click();
    await ready();
    await type("echo two-$((40+2))\n");
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^two-42$/m);
    expect(await shown.locator(".xterm-rows").innerText()).not.toContain("one-41");
    await browser.examine("terminal-tabs");

    await page.reload();
    await ready();
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^two-42$/m);
    await page.getByRole("button", { name: words.terminal.tab(1), exact: true }).click();
    await ready();
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^one-41$/m);

    // A bell behind is seen on its tab.
    await type("(sleep 1; printf '\\a') &\n");
    await page.getByRole("button", { name: words.terminal.tab(2), exact: true }).click();
    await page.getByLabel(words.terminal.bell).waitFor();
    await button(words.terminal.close(words.terminal.tab(2))).click();
    await page
      .getByRole("button", { name: words.terminal.tab(2), exact: true })
      .waitFor({ state: "detached" });
  });

  test("what is selected in a terminal is copied where that is switched on", async () => {
    const { page } = browser;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const shown = page.locator("section.terminal:not([hidden])");
    await shown.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("clear; echo copy-$((40+3))\n");
    const row = shown.locator(".xterm-rows > div").filter({ hasText: /^copy-43$/ });
    await row.waitFor();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const select = async () => {
      const at = await row.boundingBox();
      if (!at) throw new Error("the row is not shown");
      // Away from what is selected, and then the word.
      await page.mouse.click(at.x + 200, at.y + 5 * at.height);
      await page.mouse.dblclick(at.x + 20, at.y + at.height / 2);
    };
    const put = (text: string) => page.evaluate((what) => navigator.clipboard.writeText(what), text);
    const switchTo = async (on: boolean) => {
      await button(words.terminal.options).click();
      const choice = page.getByRole("group", { name: words.terminal.copyOnSelect });
      await choice
        .getByRole("menuitemradio", { name: on ? words.terminal.on : words.terminal.off, exact: true })
        .click();
    };
    await put("as before");
    await switchTo(true);
    await select();
    await expect.poll(clipboard).toBe("copy-43");
    // One types on.
    await page.keyboard.type("echo after-$((40+4))\n");
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^after-44$/m);

    await switchTo(false);
    await put("as before");
    await select();
    await shown.locator(".xterm-selection > div").first().waitFor();
    expect(await clipboard()).toBe("as before");
  });

  test("the scrollback can be searched, and the size of its letters chosen", async () => {
    const { page } = browser;
    const shown = page.locator("section.terminal:not([hidden])");
    await shown.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("seq 1000 1400\n");
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^1400$/m);
    const rows = shown.locator(".xterm-rows > div");
    const before = await rows.count();
    await page.keyboard.press("Control+Shift+F");
    const search = page.getByRole("textbox", { name: words.terminal.search });
    await search.fill("1017");
    await page.getByText(words.terminal.found(1, 1), { exact: true }).waitFor();
    await expect.poll(() => shown.locator(".xterm-rows").innerText()).toMatch(/^1017$/m);
    await browser.examine("terminal-search");
    await search.fill("nothing like it");
    await page.getByText(words.terminal.notFound).waitFor();
    await page.keyboard.press("Escape");
    await search.waitFor({ state: "detached" });
    // The terminal takes the place of the search again.
    await expect.poll(() => rows.count()).toBe(before);

    await button(words.terminal.options).click();
    await page.getByRole("menuitemradio", { name: "20 px" }).click();
    await expect.poll(() => rows.count()).toBeLessThan(before);
    await button(words.terminal.options).click();
    await page.getByRole("menuitemradio", { name: "13 px" }).click();
    await expect.poll(() => rows.count()).toBe(before);
  });

  test("a terminal has a page of its own, and asks before it runs what a link says", async () => {
    const { page } = browser;
    await page.goto(
      `${server.url}/@owner/${name}.main/terminal?command=${encodeURIComponent("uname -sr; df -h /; echo from-$((1+1)); exec sh")}`,
    );
    await page.getByText(words.terminal.commandTitle).waitFor();
    await page.waitForURL(/reconnect=/);
    await browser.examine("terminal-command");
    await button(words.terminal.commandRun).click();
    await page.locator('.terminal[data-state="connected"]').waitFor({ timeout: 30_000 });
    await expect.poll(() => page.locator(".xterm-rows").innerText()).toMatch(/^from-2$/m);
    await browser.examine("terminal-page", { at: ".terminal" });
    await page.reload();
    await expect.poll(() => page.locator(".xterm-rows").innerText()).toMatch(/^from-2$/m);
    await page.goto(`${server.url}/@owner/${name}.nobody/terminal`);
    await page.getByText(words.terminal.noAgentTitle).waitFor();
  });

  test("the other panels are there", async () => {
    for (const panel of ["agents", "resources", "parameters"] as const) {
      await open(panel);
      await browser.examine(`workspace-${panel}`);
    }
  });

  test("each panel heals when the server was away, without a reload", async () => {
    const { page } = browser;
    const seen: Record<string, () => Promise<void>> = {
      builds: () => page.getByRole("link", { name: words.builds.number(1), exact: true }).waitFor(),
      agents: () => page.getByRole("heading", { name: "main", level: 2 }).last().waitFor(),
      ports: () => page.getByRole("heading", { name: words.ports.shared }).waitFor(),
      settings: () => page.getByLabel(words.settings.autostart, { exact: true }).waitFor(),
      terminal: async () => {
        await page
          .locator('section.terminal:not([hidden])[data-state="connected"]')
          .waitFor({ timeout: 60_000 });
        await expect
          .poll(() => page.locator("section.terminal:not([hidden]) .xterm-rows").innerText(), {
            timeout: 15_000,
          })
          .toMatch(/^1400$/m);
      },
    };
    for (const panel of language === "en" ? Object.keys(seen) : ["terminal"]) {
      await page.goto(`${server.url}/@owner/${name}?panel=${panel}`);
      await seen[panel]?.();
      await page.evaluate(() => Object.assign(window, { stillHere: true }));
      await server.halt();
      await page.getByText(t.connection.lost).waitFor({ timeout: 30_000 });
      // What was there stays; an action says that the server is away.
      expect(await main().getByRole("heading", { name, level: 1 }).count(), panel).toBe(1);
      await server.launch();
      await page.getByText(t.connection.lost).waitFor({ state: "detached", timeout: 30_000 });
      await seen[panel]?.();
      await page.locator('[data-agent="main"][data-status="connected"]').waitFor({ timeout: 60_000 });
      expect(await page.evaluate(() => "stillHere" in window), panel).toBe(true);
      expect(await main().getByRole("alert").count(), panel).toBe(0);
    }
  }, 400_000);

  test("it falls asleep, and is woken", async () => {
    const { page } = browser;
    await open("settings");
    await button(words.settings.makeDormant).click();
    await page.getByText(words.dormantTitle).waitFor();
    expect((await workspace(name)).dormant_at).not.toBeNull();
    await browser.examine("dormant");
    await main().getByRole("button", { name: words.wake, exact: true }).first().click();
    await page.getByText(words.dormantTitle).waitFor({ state: "detached" });
    expect((await workspace(name)).dormant_at).toBeNull();
  });

  test("a build that failed says why, and is made again once its cause is gone", async () => {
    const { page } = browser;
    const other = nameIn(language, "night-build");
    const cure = join(server.directory, `cure-${language}`);
    await extend(
      `resource "terraform_data" "check_${language}" {\n  count = data.coder_workspace.me.start_count\n  provisioner "local-exec" {\n    command = "test -e ${cure}"\n  }\n}\n`,
      "Looks for a file",
    );
    await server.coder("create", other, "--template", "local", "--yes", ...answers()).catch(() => undefined);
    const built = async () => (await workspace(other)).latest_build;
    await page.goto(`${server.url}/@owner/${other}`);
    await page.getByText(t.workspace.failedTitle).waitFor();
    await main().getByText("local-exec provisioner error").first().waitFor();
    await browser.examine("failed");
    await button(words.retry).click();
    await expect.poll(built, { timeout: 60_000 }).toMatchObject({ status: "failed", build_number: 2 });
    await page.getByText(t.workspace.failedTitle).waitFor();

    await writeFile(cure, "");
    await page.goto(`${server.url}/@owner/${other}?panel=builds&build=2`);
    await main().getByText("local-exec provisioner error").first().waitFor();
    await page.locator(".build-actions").getByRole("button", { name: words.builds.again }).click();
    await expect.poll(built, { timeout: 60_000 }).toMatchObject({ status: "running", build_number: 3 });
    await page.getByText(t.workspace.failedTitle).waitFor({ state: "detached" });
    await page.locator('.terminal[data-state="connected"]').waitFor();
  });

  test("a workspace is forgotten without touching what was made for it", async () => {
    const { page } = browser;
    const other = nameIn(language, "night-build");
    await server.coder("stop", other, "--yes");
    await open("resources", other);
    const home = await page.locator(".workspace-resources .mono", { hasText: "/home" }).first().innerText();
    await access(home);
    await open("settings", other);
    await button(words.settings.deleteButton).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(words.deletion.lead).waitFor();
    await dialog.getByRole("checkbox", { name: words.deletion.orphan }).check();
    await dialog.getByText(words.deletion.orphanLead).waitFor();
    await browser.examine("orphan");
    await dialog.getByRole("textbox").fill(other);
    await dialog.getByRole("button", { name: words.deletion.orphanAction, exact: true }).click();
    await page.waitForURL("**/workspaces");
    await expect.poll(async () => (await workspace(other)).id ?? "gone", { timeout: 60_000 }).toBe("gone");
    await access(home);
  });

  test("it is deleted by its name, and its log stays", async () => {
    const { page } = browser;
    await expect
      .poll(async () => (await workspace(name)).latest_build.status, { timeout: 60_000 })
      .toMatch(/running|stopped/);
    await open("settings");
    await button(words.settings.deleteButton).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("terraform_data").first().waitFor();
    await browser.examine("delete");
    const confirm = dialog.getByRole("button", { name: words.deletion.action, exact: true });
    expect(await confirm.getAttribute("aria-disabled")).toBe("true");
    await dialog.getByRole("textbox").fill(name);
    await confirm.click();
    await page.waitForURL("**/workspaces");
    await expect.poll(async () => (await workspace(name)).id ?? "gone", { timeout: 60_000 }).toBe("gone");
    await page.goto(`${server.url}/@owner/${name}`);
    await page.getByText(words.deletedTitle(name)).waitFor();
    await page.getByText("Destruction complete").first().waitFor();
    await browser.examine("deleted");
    expect(browser.complaints).toEqual([]);
  });
});
