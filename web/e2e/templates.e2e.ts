/** Templates: found, read, promoted, embedded, changed and deleted; and workspaces made from them by every way. */

import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language } from "./browser";
import { Person } from "./people";
import { Server } from "./server";

const EMAIL = "owner@example.org";
const MEMBER = "member@example.org";
const PASSWORD = "plain horses eat 7 apples";
const KITCHEN = fileURLToPath(new URL("templates/kitchen", import.meta.url));

interface Template {
  id: string;
  name: string;
  display_name: string;
  active_version_id: string;
  default_ttl_ms: number;
  activity_bump_ms: number;
  autostart_requirement: { days_of_week: string[] };
  deprecation_message: string;
  organization_id: string;
}

let server: Server;
let folder: string;
let token = "";

async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${server.url}/api/v2${path}`, {
    method,
    headers: token ? { "Coder-Session-Token": token } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text ? JSON.parse(text) : undefined) as T;
}

const kitchen = () => api<Template>("GET", "/organizations/default/templates/kitchen");
const push = (name: string, ...more: string[]) =>
  server.coder("templates", "push", name, "-d", folder, "--yes", ...more);

async function signIn(browser: Browser, t: typeof en, email: string) {
  const { page } = browser;
  page.setDefaultTimeout(60_000);
  await page.goto(`${server.url}/login`);
  await page.getByRole("textbox", { name: t.login.email }).fill(email);
  await page.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: t.login.submit, exact: true }).click();
  await page.waitForURL("**/workspaces");
}

beforeAll(async () => {
  // As a README it would be held to the rules of this repository's own documents.
  folder = await mkdtemp(join(tmpdir(), "coder-e2e-kitchen-"));
  await cp(KITCHEN, folder, { recursive: true });
  await rename(join(folder, "hostile.txt"), join(folder, "README.md"));
  server = await Server.start();
  await api("POST", "/users/first", { email: EMAIL, username: "owner", password: PASSWORD });
  const login = { email: EMAIL, password: PASSWORD };
  token = (await api<{ session_token: string }>("POST", "/users/login", login)).session_token;
  const [organization] = await api<{ id: string }[]>("GET", "/organizations");
  await api("POST", "/users", {
    email: MEMBER,
    username: "member",
    password: PASSWORD,
    login_type: "password",
    organization_ids: [organization?.id],
  });
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("in English", () => {
  const t = en;
  let browser: Browser;

  beforeAll(async () => {
    browser = await Browser.start(server.url, "en");
    await signIn(browser, t, EMAIL);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
  const field = (name: string) => browser.page.getByRole("textbox", { name });
  const open = (path: string) => browser.page.goto(`${server.url}${path}`);

  test("without a template the list says how the first one comes", async () => {
    const { page } = browser;
    await open("/templates");
    await page.getByText(t.template.emptyText).waitFor();
    await browser.examine("templates-empty");
    await server.pushTemplate(EMAIL, PASSWORD);
    await push("kitchen");
  });

  test("the list shows what one chooses by, and is searched by the address", async () => {
    const { page } = browser;
    await open("/templates");
    const row = page.locator('[data-template="kitchen"]');
    await row.getByText(t.template.noBuilds).waitFor();
    await row.locator("code").waitFor();
    await browser.examine("templates");
    await field(t.template.search).fill("nothing like it");
    await page.getByText(t.template.nothingTitle).waitFor();
    await page.getByRole("link", { name: t.workspaces.clear }).click();
    await field(t.template.search).fill("kitch");
    await page.waitForURL("**filter=kitch");
    await page.locator('[data-template="local"]').waitFor({ state: "detached" });
    await page.getByRole("link", { name: "kitchen", exact: true }).click();
    await page.waitForURL("**/templates/kitchen");
  });

  test("a README is read, and nothing in it runs or is fetched from elsewhere", async () => {
    const { page } = browser;
    const readme = page.locator(".markdown");
    await readme.getByText("The end of the README.").waitFor();
    await browser.examine("template-hostile");
    expect(await page.evaluate(() => (window as unknown as { hacked?: string }).hacked)).toBeUndefined();
    expect(await readme.locator("script, iframe, style, form, button, svg, object, embed").count()).toBe(0);
    const links = await readme
      .locator("a")
      .evaluateAll((all) => all.map((each) => [each.getAttribute("href"), each.getAttribute("rel")]));
    expect(links).toEqual([
      ["#md-what-it-makes", null],
      ["https://example.org/handbook", "noopener noreferrer"],
      ["https://evil.example/pixel.png", "noopener noreferrer"],
    ]);
    const images = await readme
      .locator("img")
      .evaluateAll((all) => all.map((each) => each.getAttribute("src")));
    expect(images).toHaveLength(1);
    expect(images[0]).toMatch(/^data:image\/png/);
    const attributes = await readme
      .locator("*")
      .evaluateAll((all) =>
        all
          .flatMap((each) => each.getAttributeNames())
          .filter((name) => name.startsWith("on") || name === "style"),
      );
    expect(attributes).toEqual([]);
    // What would have run is there to be read.
    await readme.getByText('<script>window.hacked = "script"</script>').waitFor();
    await readme.getByRole("link", { name: "what it makes" }).click();
    await page.waitForURL("**#md-what-it-makes");
    await page.getByRole("complementary").getByText("terraform_data").waitFor();
    await open("/templates/local");
    await page.locator(".markdown h3").first().waitFor();
    await page.getByRole("complementary").getByText("terraform_data").first().waitFor();
    await browser.examine("template-summary");
    await open("/templates/kitchen");
  });

  test("a version is renamed, made active, archived and taken out again", async () => {
    const { page } = browser;
    await push("kitchen", "--name", "second", "--message", "Second try", "--activate=false");
    const before = await kitchen();
    await page.getByRole("link", { name: t.template.pages.versions, exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: /Second try|Third try/ });
    await row.getByText("Second try").waitFor();
    await browser.examine("template-versions");

    await row.getByRole("button", { name: t.actions.of(t.common.more, "second") }).click();
    await page.getByRole("menuitem", { name: t.template.versions.edit }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: t.create.name }).fill("not a name");
    await dialog.getByRole("button", { name: t.common.save }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByRole("textbox", { name: t.create.name }).fill("better");
    await dialog.getByRole("textbox", { name: t.template.versions.message }).fill("Third try");
    await browser.examine("template-version-edit");
    await dialog.getByRole("button", { name: t.common.save }).click();
    await row.getByText("Third try").waitFor();

    await row.getByRole("button", { name: t.actions.of(t.template.versions.promote, "better") }).click();
    await row.getByText(t.template.versions.active, { exact: true }).waitFor();
    const after = await kitchen();
    expect(after.active_version_id).not.toBe(before.active_version_id);
    expect((await api<{ name: string }>("GET", `/templateversions/${after.active_version_id}`)).name).toBe(
      "better",
    );

    await button(t.template.versions.archiveUnused).click();
    await page.getByRole("dialog").getByRole("button", { name: t.template.versions.archive }).click();
    await button(t.template.versions.showArchived(1)).click();
    const old = page.getByRole("row").filter({ hasText: t.template.versions.archived });
    await old.getByRole("button", { name: new RegExp(t.common.more) }).click();
    await page.getByRole("menuitem", { name: t.template.versions.unarchive }).click();
    await old.waitFor({ state: "detached" });
    const versions = await api<{ archived: boolean }[]>("GET", `/templates/${after.id}/versions`);
    expect(versions.map((version) => version.archived)).toEqual([false, false]);
  });

  test("insights say that nobody was there, or show who was by day", async () => {
    const { page } = browser;
    await page.getByRole("link", { name: t.template.pages.insights, exact: true }).click();
    await page.getByText(t.template.insights.noUsers).waitFor();
    await browser.examine("template-insights-empty");
    const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
    const entries = [9, 8, 6, 5, 4, 3, 2].map((back, index) => ({ date: day(back), amount: index * 2 + 1 }));
    await page.route("**/daus**", (route) => route.fulfill({ json: { entries, tz_hour_offset: 0 } }));
    await page.reload();
    const table = page.getByRole("table", { name: t.template.insights.daily });
    await table.waitFor({ state: "attached" });
    expect(await table.getByRole("row").count()).toBe(31);
    await browser.examine("template-insights");
    await page.unroute("**/daus**");
  });

  test("the generator's link opens the form with what it says", async () => {
    const { page } = browser;
    await page.getByRole("link", { name: t.template.pages.embed, exact: true }).click();
    await page.getByRole("checkbox", { name: t.template.embed.set("Project") }).check();
    await field("Project").fill('a "b" & <c> 3.10');
    await page.getByRole("checkbox", { name: t.template.embed.set("Hosts") }).check();
    await field("Hosts").fill("one");
    await field("Hosts").press("Enter");
    await field(t.template.embed.name).fill("linked");
    await browser.examine("template-embed", { whole: true });
    const link = await page.locator(".embed-output").last().locator("code").innerText();
    await page.goto(link);
    await field("Project").waitFor();
    expect(await field("Project").inputValue()).toBe('a "b" & <c> 3.10');
    expect(await field(t.create.name).inputValue()).toBe("linked");
    await page.getByText("one", { exact: true }).waitFor();
    expect(await page.getByText(t.create.origins.link).count()).toBe(2);
  });

  test("the form asks by each kind of control, says what is missing, and makes what it shows", async () => {
    const { page } = browser;
    await open("/templates/kitchen/workspace?name=first");
    await button(t.create.submit).waitFor();
    await browser.examine("create-all", { whole: true });
    await button(t.create.submit).click();
    await page.getByText(t.create.problems.missing).waitFor();
    await expect.poll(() => field("Project").evaluate((each) => each === document.activeElement)).toBe(true);
    await field("Project").fill("apollo");
    await field("Disk").fill("99");
    await page.locator(".field-error").getByText(t.create.outOfRange(5, 50)).waitFor();
    await browser.examine("create-errors");
    await field("Disk").fill("20");

    await page.getByRole("radio", { name: /America/ }).check();
    await page.getByRole("combobox", { name: t.create.preset }).selectOption({ label: "Big" });
    const size = page.getByRole("combobox", { name: /Size/ });
    expect([await size.inputValue(), await size.isDisabled()]).toEqual(["large", true]);
    await browser.examine("create-preset");
    await page.getByRole("checkbox", { name: "Vim" }).check();
    for (const host of ["one", "two", "three"]) {
      await field("Hosts").fill(host);
      await field("Hosts").press("Enter");
    }
    await button(t.create.removeTag("two")).click();
    await page.getByRole("checkbox", { name: /Backup/ }).check();
    await page.getByRole("switch", { name: /Public/ }).check();
    await field("Notes").fill("line 1\nline 2");
    await button(t.create.submit).click();
    await page.waitForURL("**/@owner/first");

    const workspace = await api<{ latest_build: { id: string } }>("GET", "/users/owner/workspace/first");
    const list = await api<{ name: string; value: string }[]>(
      "GET",
      `/workspacebuilds/${workspace.latest_build.id}/parameters`,
    );
    expect(Object.fromEntries(list.map(({ name, value }) => [name, value]))).toEqual({
      region: "us",
      size: "large",
      tools: '["git","vim"]',
      hosts: '["one","three"]',
      cpu: "8",
      disk: "20",
      backup: "true",
      public: "true",
      project: "apollo",
      notes: "line 1\nline 2",
      reset: "false",
    });
  });

  test("what was chosen last is proposed and marked, and a workspace is duplicated", async () => {
    const { page } = browser;
    await open("/templates/kitchen/workspace");
    await page.getByText(t.create.origins.used).first().waitFor();
    expect(await field("Project").inputValue()).toBe("apollo");
    await open("/templates/kitchen/workspace?duplicate=owner/first");
    await page.getByText(t.create.copyTitle("owner/first")).waitFor();
    expect(await field(t.create.name).inputValue()).toBe("first-copy");
    expect(await page.getByRole("slider", { name: /CPU/ }).inputValue()).toBe("8");
    await browser.examine("create-duplicate");
    await open("/templates/kitchen/workspace?duplicate=owner/nothing");
    await page.getByText(t.create.copyFailed).waitFor();
    await button(t.create.submit).waitFor();
  });

  test("another version can be chosen, and keeps what was typed", async () => {
    const { page } = browser;
    await open("/templates/kitchen/workspace");
    await field("Project").fill("typed");
    const version = page.getByRole("combobox", { name: t.create.version });
    const other = await version.locator("option").last().getAttribute("value");
    await version.selectOption(other ?? "");
    await page.waitForURL(`**version=${other}`);
    expect(await field("Project").inputValue()).toBe("typed");
  });

  test("a link with mode=auto makes nothing before a person agrees", async () => {
    const { page } = browser;
    await open("/templates/kitchen/workspace?mode=auto&name=auto&param.project=linked&param.colour=red");
    await page.getByText(t.create.consentTitle).first().waitFor();
    await page.getByText(t.create.unknownParameters(t.common.quoted("colour"))).waitFor();
    await browser.examine("create-consent");
    await page.reload();
    await page.getByText(t.create.consentTitle).first().waitFor();
    const { count } = await api<{ count: number }>("GET", "/workspaces?q=name:auto");
    expect(count).toBe(0);
    await button(t.create.review).click();
    await page.waitForURL((url) => !url.searchParams.has("mode"));
    expect(await field("Project").inputValue()).toBe("linked");
    await open("/templates/kitchen/workspace?mode=auto&name=auto&param.project=linked");
    await button(t.create.submit).click();
    await page.waitForURL("**/@owner/auto");
    // Without the value that the template needs, there is nothing to agree to.
    await open("/templates/kitchen/workspace?mode=auto&param.project=");
    await field("Project").waitFor();
  });

  test("a workspace is made for somebody else", async () => {
    const { page } = browser;
    await open("/templates/local/workspace?name=theirs");
    const owner = page.getByRole("combobox", { name: t.create.owner });
    await owner.fill("nobody-here");
    await button(t.create.submit).click();
    await page.getByRole("alert").waitFor();
    await owner.fill("member");
    await button(t.create.submit).click();
    await page.waitForURL("**/@member/theirs");
  });

  test("settings are saved, and the others stay as they are", async () => {
    const { page } = browser;
    const before = await kitchen();
    await open("/templates/kitchen/settings");
    await field(t.template.settings.displayName).fill("The kitchen");
    await field(t.template.settings.description).fill("Everything at once");
    await browser.examine("template-settings");
    await button(t.common.save).first().click();
    await page.getByText(t.common.saved).waitFor();
    await page.getByRole("heading", { level: 1, name: "The kitchen" }).waitFor();

    await page.getByRole("link", { name: t.template.pages.schedule, exact: true }).click();
    await field(t.template.schedule.default_ttl_ms).fill("often");
    await button(t.common.save).click();
    await page.getByText(t.template.schedule.notALength).waitFor();
    await field(t.template.schedule.default_ttl_ms).fill("8.5");
    await field(t.template.schedule.time_til_dormant_ms).fill("30");
    await page.getByRole("checkbox", { name: "Sunday" }).uncheck();
    await browser.examine("template-schedule");
    await button(t.common.save).click();
    await page.getByText(t.common.saved).waitFor();
    const after = await kitchen();
    expect(after).toMatchObject({
      display_name: "The kitchen",
      default_ttl_ms: 8.5 * 3_600_000,
      time_til_dormant_ms: 30 * 24 * 3_600_000,
      activity_bump_ms: before.activity_bump_ms,
      active_version_id: before.active_version_id,
    });
    expect(after.autostart_requirement.days_of_week).toHaveLength(6);
  });

  test("a deprecated template is marked, and nothing is made from it", async () => {
    const { page } = browser;
    await open("/templates/kitchen/settings");
    await field(t.template.settings.deprecation).fill("Use the local one.");
    await button(t.common.save).last().click();
    await page.getByText(t.create.deprecated).waitFor();
    await browser.examine("template-deprecated");
    await open("/templates/kitchen/workspace");
    await page.getByText("Use the local one.").waitFor();
    expect(await button(t.create.submit).count()).toBe(0);
    await open("/templates");
    await page.locator('[data-template="local"]').waitFor();
    expect(await page.locator('[data-template="kitchen"]').count()).toBe(0);
    await button(t.template.showDeprecated(1)).click();
    await page.locator('[data-template="kitchen"]').getByText(t.template.deprecated).waitFor();
    await browser.examine("templates-deprecated");
    await open("/templates/kitchen/settings");
    await field(t.template.settings.deprecation).fill("");
    await button(t.common.save).last().click();
    await page.getByText(t.create.deprecated).waitFor({ state: "detached" });
    expect((await kitchen()).deprecation_message).toBe("");
  });

  test("new values of variables make a version, which is watched and made active", async () => {
    const { page } = browser;
    await open("/templates/kitchen/settings/variables");
    await field("greeting").fill("good day");
    await browser.examine("template-variables");
    await button(t.template.variables.submit).click();
    await page.getByText(t.template.variables.ready).waitFor({ timeout: 60_000 });
    await page.getByText("terraform_data.home").first().waitFor();
    await browser.examine("template-import");
    await button(t.template.versions.promote).click();
    await field("greeting").waitFor();
    await expect.poll(() => field("greeting").inputValue()).toBe("good day");
    const { active_version_id } = await kitchen();
    const variables = await api<{ name: string; value: string }[]>(
      "GET",
      `/templateversions/${active_version_id}/variables`,
    );
    expect(variables.find(({ name }) => name === "greeting")?.value).toBe("good day");
  });

  test("a template is shared with one member, whom the others then do without", async () => {
    const { page } = browser;
    const words = t.template.permissions;
    await open("/templates/kitchen/settings/permissions");
    const role = (name: string) => page.getByRole("combobox", { name: words.roleOf(name) });
    await role(words.everyone).selectOption("");
    await page.getByText(words.nobody).waitFor();
    const { id } = await kitchen();
    const member = await Person.signIn(server.url, "member");
    await expect.poll(async () => (await member.ask("GET", `/templates/${id}`)).status).toBe(404);

    await button(words.share).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox", { name: words.person }).fill("mem");
    await dialog.getByRole("option", { name: /^member/ }).waitFor();
    await browser.examine("template-share");
    await dialog.getByRole("option", { name: /^member/ }).click();
    await dialog.getByRole("button", { name: words.share }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await role("member").inputValue()).toBe("use");
    await browser.examine("template-permissions");
    expect((await member.ask("GET", `/templates/${id}`)).status).toBe(200);
    expect((await member.ask("GET", `/templates/${id}/acl`)).status).toBe(403);

    await role("member").selectOption("admin");
    await page.getByRole("status").getByText(t.common.saved).waitFor();
    expect((await member.ask("GET", `/templates/${id}/acl`)).status).toBe(200);
    await role(words.everyone).selectOption("use");
    await button(t.actions.of(words.remove, "member")).click();
    await role("member").waitFor({ state: "detached" });
    expect((await member.ask("GET", `/templates/${id}/acl`)).status).toBe(403);
    expect((await member.ask("GET", `/templates/${id}`)).status).toBe(200);
  });

  test("a template is renamed, and deleted by its name", async () => {
    const { page } = browser;
    await push("short", "--name", "only");
    await open("/templates/short/settings");
    const name = page.getByRole("textbox", { name: t.create.name, exact: true });
    await name.fill("kitchen");
    await button(t.common.save).first().click();
    await page.locator(".field-error").waitFor();
    await name.fill("shorter");
    await button(t.common.save).first().click();
    await page.waitForURL("**/templates/shorter/settings");
    await button(t.template.settings.delete).click();
    const dialog = page.getByRole("dialog");
    await browser.examine("template-delete");
    await dialog.getByRole("textbox").fill("shorter");
    await dialog.getByRole("button", { name: t.template.settings.delete }).click();
    await page.waitForURL("**/templates");
    await page.locator('[data-template="local"]').waitFor();
    expect(await page.locator('[data-template="shorter"]').count()).toBe(0);
    await open("/templates/shorter");
    await page.getByText(t.errors.notFound).waitFor();
  });

  test("nothing was complained of", () => {
    expect(browser.complaints).toEqual([]);
  });
});

describe("in French, as one who may only look", () => {
  const t = fr;
  let browser: Browser;

  beforeAll(async () => {
    browser = await Browser.start(server.url, "fr" satisfies Language);
    await signIn(browser, t, MEMBER);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const words = t.template.pages;

  test("templates can be looked at, without what one may not do", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates`);
    await page.locator('[data-template="kitchen"] code').waitFor();
    await browser.examine("templates");
    await page.getByRole("link", { name: "The kitchen", exact: true }).click();
    await page.getByText("The end of the README.").waitFor();
    expect(await page.getByRole("link", { name: words.settings, exact: true }).count()).toBe(0);
    await browser.examine("template-summary");
    await page.getByRole("link", { name: words.versions, exact: true }).click();
    await page.getByText(t.template.versions.active, { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: t.template.versions.promote }).count()).toBe(0);
    await browser.examine("template-versions");
  });

  test("anybody sees how a template is used, and makes links to it", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates/kitchen`);
    await page.getByRole("link", { name: words.insights, exact: true }).click();
    await page.getByText(t.template.insights.buildTimes).waitFor();
    await browser.examine("template-insights");
    await page.getByRole("link", { name: words.embed, exact: true }).click();
    await page.getByRole("checkbox", { name: t.template.embed.set("Region") }).check();
    await browser.examine("template-embed");
  });

  test("settings are closed, and the form asks for one's own workspace", async () => {
    const { page } = browser;
    for (const path of ["settings", "settings/schedule", "settings/variables", "settings/permissions"]) {
      await page.goto(`${server.url}/templates/kitchen/${path}`);
      await page.getByText(t.template.editorsOnly).waitFor();
    }
    await browser.examine("template-editors-only");
    await page.goto(`${server.url}/templates/kitchen/workspace?param.project=a&mode=auto`);
    await page.getByText(t.create.consentTitle).first().waitFor();
    await browser.examine("create-consent");
    await page.getByRole("button", { name: t.create.review }).click();
    await page.getByRole("textbox", { name: t.create.name }).waitFor();
    expect(await page.getByRole("combobox", { name: t.create.owner }).count()).toBe(0);
    expect(await page.getByRole("combobox", { name: t.create.version }).count()).toBe(0);
    await browser.examine("create-all");
  });

  test("the settings speak French too", async () => {
    const { page } = browser;
    const [member] = (await api<{ users: { id: string }[] }>("GET", "/users?q=member")).users;
    await api("PUT", `/users/${member?.id}/roles`, { roles: ["template-admin"] });
    for (const [path, heading] of [
      ["settings", t.template.pages.settings],
      ["settings/schedule", t.template.pages.schedule],
      ["settings/variables", t.template.pages.variables],
      ["settings/permissions", t.template.pages.permissions],
      ["versions", t.template.pages.versions],
    ] as const) {
      await page.goto(`${server.url}/templates/kitchen/${path}`);
      await page.getByRole("heading", { level: 2, name: heading }).waitFor();
      await page.locator(".template-part > :is(form, section, .table)").first().waitFor();
      await browser.examine(`template-${path.replace("/", "-")}`);
    }
    expect(browser.complaints).toEqual([]);
  });
});
