/** What one does in the admin area, and that the server then says the same. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language, nameIn } from "./browser";
import { emailOf, PASSWORD, Person, signIn } from "./people";
import { Server } from "./server";

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

interface Member {
  username: string;
  roles: { name: string }[];
}
interface Job {
  id: string;
  status: string;
  file_id: string;
}

let server: Server;
let owner: Person;

beforeAll(async () => {
  server = await Server.start();
  owner = await Person.first(server.url, "owner");
  await owner.invite("template-admin", ["template-admin"]);
  await owner.invite("viewer", []);
  await server.pushTemplate(emailOf("owner"), PASSWORD);
});

afterAll(async () => {
  await server?.stop();
});

describe.each(languages)("in %s", (language, t) => {
  let browser: Browser;
  /** Whom this run makes and deletes again. */
  const name = nameIn(language, "data-engineer");
  const words = t.admin;

  beforeAll(async () => {
    browser = await Browser.start(server.url, language);
    await owner.use(browser);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const page = () => browser.page;
  const button = (text: string) => page().getByRole("button", { name: text, exact: true });
  const field = (text: string) => page().getByRole("textbox", { name: text, exact: true });
  const item = (text: string) => page().getByRole("menuitem", { name: text });
  const dialog = () => page().getByRole("dialog");
  const row = (of: string) => page().getByRole("row", { name: emailOf(of) });
  const search = () => page().getByRole("combobox", { name: words.search.users });

  const open = async (path: string, title: string) => {
    await page().goto(`${server.url}${path}`);
    await page().getByRole("heading", { level: 1, name: title }).waitFor();
    await page().locator(".skeleton").first().waitFor({ state: "detached" });
  };
  /** What opens above a page is alike in both languages. */
  const examineOnce = async (what: string) => {
    if (language === "en") await browser.examine(what);
  };
  const menuOf = async (of: string) => button(words.users.actionsOf(of)).click();

  test("a user is made, and can sign in with the password that is shown once", async () => {
    await open("/admin/users", t.nav.adminPages.users);
    await row("owner").waitFor();
    await browser.examine("users");
    await button(words.users.create).click();
    await page().waitForURL("**create=true");
    await field(words.users.form.username).fill(name);
    await field(words.users.form.email).fill(emailOf(name));
    const password = field(words.users.form.password);
    expect(await password.inputValue()).toMatch(/^(\w{5}-){3}\w{5}$/);
    await password.fill("abc");
    await button(words.users.form.submit).click();
    await dialog().getByRole("alert").first().waitFor();
    await examineOnce("user-create");
    await button(words.users.form.generate).click();
    const generated = await password.inputValue();
    await button(words.users.form.submit).click();
    await page()
      .getByRole("heading", { name: words.users.created(name) })
      .waitFor();
    await examineOnce("user-password");
    expect(await dialog().locator("code").innerText()).toBe(generated);
    await button(words.users.done).click();
    await row(name).getByText(words.users.status.dormant).waitFor();
    expect((await signIn(server.url, name, generated)).status).toBe(201);
  });

  test("a name that is taken is refused where it is typed", async () => {
    await page().goto(`${server.url}/admin/users?create=true`);
    await field(words.users.form.username).fill(name);
    await field(words.users.form.email).fill(emailOf(name));
    await button(words.users.form.submit).click();
    await dialog().getByRole("alert").waitFor();
    await button(t.common.cancel).click();
    await dialog().waitFor({ state: "detached" });
  });

  test("the search is completed by keyboard, and stands in the address", async () => {
    await open("/admin/users", t.nav.adminPages.users);
    await search().click();
    await page().getByRole("listbox").waitFor();
    await examineOnce("users-search");
    await search().press("r");
    await search().press("ArrowDown");
    await search().press("Enter");
    expect(await search().inputValue()).toBe("role:");
    await search().press("ArrowDown");
    await search().press("Enter");
    expect(await search().inputValue()).toBe("role:owner ");
    await page().waitForURL("**filter=role%3Aowner");
    await row(name).waitFor({ state: "detached" });
    await row("owner").waitFor();
    await search().fill("nobody-like-this");
    await page().getByText(words.search.nothingText("nobody-like-this")).waitFor();
    await examineOnce("users-none");
    await page().getByRole("main").getByRole("button", { name: words.search.clear }).last().click();
    await row(name).waitFor();
  });

  test("roles are changed, and the audit log has the difference", async () => {
    await menuOf(name);
    await item(words.users.changeRoles).click();
    await page()
      .getByRole("checkbox", { name: t.roles.auditor as string, exact: true })
      .check();
    await examineOnce("user-roles");
    await button(t.common.save).click();
    await row(name)
      .getByText(t.roles.auditor as string, { exact: true })
      .waitFor();
    const { body } = await owner.ask<{ roles: string[] }>("GET", `/users/${name}/roles`);
    expect(body.roles).toEqual(["auditor"]);

    await open(`/admin/audit?filter=action%3Awrite+resource_target%3A${name}`, t.nav.adminPages.audit);
    const entry = page().locator(`.entry[data-target="${name}"]`).first();
    await entry.getByRole("button").first().click();
    const changed = entry.getByRole("row", { name: "roles" });
    await changed.locator(".diff-new").getByText("auditor").waitFor();
    expect(await changed.locator(".diff-old").innerText()).toBe(words.audit.nothing);
    await browser.examine("audit-entry");
    await entry.getByRole("link", { name, exact: true }).click();
    await page().waitForURL("**/admin/users?filter=search*");
    await row(name).waitFor();
  });

  test("who is suspended cannot sign in until they are let in again", async () => {
    await owner.ask("PUT", `/users/${name}/password`, { password: PASSWORD });
    await menuOf(name);
    await item(words.users.suspend).click();
    await examineOnce("user-suspend");
    await button(words.users.suspend).click();
    await row(name).getByText(words.users.status.suspended).waitFor();
    expect((await signIn(server.url, name, PASSWORD)).status).toBeGreaterThanOrEqual(400);
    await menuOf(name);
    await item(words.users.activate).click();
    await row(name).getByText(words.users.status.active).waitFor();
    expect((await signIn(server.url, name, PASSWORD)).status).toBe(201);
  });

  test("a new password takes the place of the old one", async () => {
    await menuOf(name);
    await item(words.users.reset).click();
    const password = await field(words.users.form.password).inputValue();
    await button(words.users.resetSubmit).click();
    await page()
      .getByRole("heading", { name: words.users.passwordSet(name) })
      .waitFor();
    await button(words.users.done).click();
    expect((await signIn(server.url, name, password)).status).toBe(201);
    expect((await signIn(server.url, name, PASSWORD)).status).toBe(401);
    await row(name).getByText(words.users.mustChangeTag).waitFor();

    // Whoever has it chooses another one before anything else.
    await (await Person.signIn(server.url, name, password)).use(browser);
    await page().goto(`${server.url}/templates`);
    await page().waitForURL("**/change-password?redirect=%2Ftemplates");
    const old = page().getByLabel(t.changePassword.old, { exact: true });
    await old.fill("not the one");
    const own = page().getByLabel(t.account.security.new, { exact: true });
    await own.fill(PASSWORD);
    await button(t.changePassword.submit).click();
    await page().getByRole("alert").waitFor();
    await browser.examine("change-password");
    await old.fill(password);
    await button(t.changePassword.submit).click();
    await page().getByRole("heading", { level: 1, name: t.templates.title }).waitFor();
    expect(new URL(page().url()).pathname).toBe("/templates");
    expect((await signIn(server.url, name, PASSWORD)).status).toBe(201);
    expect((await signIn(server.url, name, password)).status).toBe(401);
    await owner.use(browser);
    await open("/admin/users", t.nav.adminPages.users);
    await row(name).waitFor();
    expect(await row(name).getByText(words.users.mustChangeTag).count()).toBe(0);
  });

  test("what one may not do to oneself says why", async () => {
    await open("/admin/users", t.nav.adminPages.users);
    await menuOf("owner");
    for (const [action, why] of [
      [words.users.changeRoles, words.why.ownRoles],
      [words.users.reset, words.why.ownPassword],
      [words.users.suspend, words.why.ownStatus],
      [words.users.remove, words.why.ownAccount],
    ] as const) {
      const each = item(action);
      expect(await each.getAttribute("aria-disabled")).toBe("true");
      expect(await each.innerText()).toContain(why);
    }
    await page().keyboard.press("Escape");
  });

  test("members get roles, leave and come back", async () => {
    const members = async () =>
      (await owner.ask<Member[]>("GET", "/organizations/default/members")).body.filter(
        (member) => member.username === name,
      );
    await open("/admin/members", t.nav.adminPages.members);
    await row(name).waitFor();
    await browser.examine("members");
    await menuOf(name);
    await item(words.users.changeRoles).click();
    const role = "organization-auditor";
    await page()
      .getByRole("checkbox", { name: t.roles[role] as string, exact: true })
      .check();
    await button(t.common.save).click();
    await row(name)
      .getByText(t.roles[role] as string, { exact: true })
      .waitFor();
    expect((await members())[0]?.roles.map((each) => each.name)).toEqual([role]);

    await menuOf(name);
    await item(words.members.remove).click();
    const confirm = dialog().getByRole("button", { name: words.members.remove });
    expect(await confirm.getAttribute("aria-disabled")).toBe("true");
    await field(t.common.typeName(name)).fill(name);
    await confirm.click();
    await dialog().waitFor({ state: "detached" });
    await row(name).waitFor({ state: "detached" });
    expect(await members()).toEqual([]);

    await button(words.members.add).click();
    const who = page().getByRole("combobox", { name: words.members.addField });
    await who.fill("a");
    await page().getByRole("option", { name }).waitFor();
    await examineOnce("member-add");
    await page().getByRole("option", { name }).click();
    expect(await who.inputValue()).toBe(name);
    await dialog().getByRole("button", { name: words.members.add }).click();
    await row(name).waitFor();
    expect((await members()).length).toBe(1);
  });

  test("a user is deleted only when their name is typed", async () => {
    await open(`/admin/users?filter=search%3A${name}`, t.nav.adminPages.users);
    await menuOf(name);
    await item(words.users.remove).click();
    const confirm = dialog().getByRole("button", { name: words.users.remove });
    await field(t.common.typeName(name)).fill("owner");
    expect(await confirm.getAttribute("aria-disabled")).toBe("true");
    await examineOnce("user-delete");
    await field(t.common.typeName(name)).fill(name);
    await confirm.click();
    await dialog().waitFor({ state: "detached" });
    await row(name).waitFor({ state: "detached" });
    const { body } = await owner.ask<{ count: number }>("GET", `/users?q=search:${name}`);
    expect(body.count).toBe(0);
  });

  test("provisioners are there, with what they did last", async () => {
    await open("/admin/provisioners", t.nav.adminPages.provisioners);
    const { body } = await owner.ask<{ name: string }[]>("GET", "/organizations/default/provisionerdaemons");
    for (const daemon of body) await page().getByText(daemon.name, { exact: true }).waitFor();
    await browser.examine("provisioners");
    await page().getByRole("link", { name: "local" }).first().click();
    await page().waitForURL("**/admin/jobs?job=*");
    await page().getByText(words.jobs.one).waitFor();
  });

  test("a job that nobody takes says so, and is canceled", async () => {
    const { body: jobs } = await owner.ask<Job[]>("GET", "/organizations/default/provisionerjobs");
    const tags = { zone: nameIn(language, "elsewhere") };
    const { body: version } = await owner.ask<{ job: Job }>(
      "POST",
      "/organizations/default/templateversions",
      { file_id: jobs[0]?.file_id, provisioner: "terraform", storage_method: "file", tags },
    );
    await open("/admin/jobs?status=active", t.nav.adminPages.jobs);
    const job = page().getByRole("row", { name: tags.zone });
    await job.getByText(words.jobs.noWorker).waitFor();
    await browser.examine("jobs");
    await job.getByRole("button").click();
    await examineOnce("job-cancel");
    await dialog().getByRole("button", { name: words.jobs.cancel }).click();
    await dialog().waitFor({ state: "detached" });
    await job.waitFor({ state: "detached" });
    const { body: after } = await owner.ask<Job>(
      "GET",
      `/organizations/default/provisionerjobs/${version.job.id}`,
    );
    expect(after.status).toBe("canceled");
    await page().getByText(words.jobs.noneWith(words.jobs.active)).waitFor();
    await examineOnce("jobs-none");
  });

  test("a job and an audit entry lead to what they are about", async () => {
    const { body: templates } = await owner.ask<{ id: string }[]>("GET", "/templates");
    const workspace = nameIn(language, "api-server");
    const { body: made } = await owner.ask<{ id: string }>("POST", "/users/me/workspaces", {
      template_id: templates[0]?.id,
      name: workspace,
    });
    await open("/admin/jobs", t.nav.adminPages.jobs);
    await page()
      .getByRole("link", { name: words.jobs.workspace(workspace) })
      .click();
    await page().waitForURL(`**/@owner/${workspace}?panel=log&build=1`);
    await open("/admin/audit", t.nav.adminPages.audit);
    // One of them is opened that says what has changed.
    for (const toggle of await page().locator(".entry-toggle").all()) {
      await toggle.click();
      if ((await page().locator(".diff-new").count()) > 0) break;
      await toggle.click();
    }
    await page().locator(".diff-new").first().waitFor();
    await browser.examine("audit");
    await page().getByLabel(words.audit.type, { exact: true }).selectOption("workspace");
    await page().waitForURL("**filter=resource_type%3Aworkspace");
    const kinds = page().locator(".entry-text");
    await expect
      .poll(async () => (await kinds.allInnerTexts()).filter((text) => !text.includes("api-server")))
      .toEqual([]);
    await browser.examine("audit-narrowed");
    await page().locator(".entry").getByRole("link", { name: workspace, exact: true }).click();
    await page().waitForURL(`**/@owner/${workspace}`);
    await expect
      .poll(
        async () =>
          (await owner.ask<{ latest_build: { status: string } }>("GET", `/workspaces/${made.id}`)).body
            .latest_build.status,
        { timeout: 60_000, interval: 500 },
      )
      .toBe("running");
    await owner.ask("POST", `/workspaces/${made.id}/builds`, { transition: "delete" });
  });

  test("the audit log is narrowed by person and day", async () => {
    await open("/admin/audit", t.nav.adminPages.audit);
    const who = page().getByRole("combobox", { name: words.audit.user });
    await who.fill("own");
    await page().getByRole("option", { name: "owner" }).click();
    await page().waitForURL("**filter=username%3Aowner");
    await page().locator(".entry").first().waitFor();
    await page().getByLabel(words.audit.from, { exact: true }).fill("2999-01-01");
    await page().getByText(words.search.nothingTitle).waitFor();
    const filter = new URL(page().url()).searchParams.get("filter");
    expect(filter).toBe("username:owner date_from:2999-01-01");
  });

  test("settings say where they come from, and secrets are not among them", async () => {
    await open("/admin/deployment", t.nav.adminPages.deployment);
    await page().locator('[data-option="access-url"]').waitFor();
    await browser.examine("deployment");
    const { body } = await owner.ask<{ options: { flag: string; value: unknown }[] }>(
      "GET",
      "/deployment/config",
    );
    await page().getByRole("searchbox").fill("CODER_ACCESS_URL");
    await page().waitForURL("**search=CODER_ACCESS_URL");
    const setting = page().locator('[data-option="access-url"]');
    await page().locator('[data-option="cache-dir"]').waitFor({ state: "detached" });
    const shown = await setting.locator(".setting-value").innerText();
    expect(shown).toContain(String(body.options.find(({ flag }) => flag === "access-url")?.value));
    expect(shown).toContain(words.deployment.source.env);
    await page().getByRole("searchbox").fill("postgres-url");
    const secret = page().locator('[data-option="postgres-url"] .setting-value');
    await expect.poll(() => secret.innerText()).toContain(words.deployment.secretUnset);
    await page().getByText(words.deployment.stats.running, { exact: true }).waitFor();
  });

  test("a dismissed part of the health report is shown again", async () => {
    await owner.ask("PUT", "/debug/health/settings", { dismissed_healthchecks: ["Database"] });
    await open("/admin/health", t.nav.adminPages.health);
    const database = page().locator('[data-section="database"]');
    await database.getByText(words.health.dismissed).waitFor();
    await browser.examine("health");
    await database.getByRole("button", { name: words.health.restore }).click();
    await database.getByText(words.health.dismissed).waitFor({ state: "detached" });
    const { body } = await owner.ask<{ dismissed_healthchecks: string[] }>("GET", "/debug/health/settings");
    expect(body.dismissed_healthchecks).toEqual([]);
    const report = async () => (await owner.ask<{ time: string }>("GET", "/debug/health")).body.time;
    const before = await report();
    await button(words.health.refresh).click();
    await expect.poll(report).not.toBe(before);
  });

  test.runIf(language === "en")("stock’s addresses lead to the same things", async () => {
    for (const [from, to] of [
      ["/users?filter=status%3Aactive", "/admin/users?filter=status%3Aactive"],
      ["/deployment/users", "/admin/users"],
      ["/audit?filter=action%3Alogin", "/admin/audit?filter=action%3Alogin"],
      ["/deployment", "/admin/deployment"],
      ["/deployment/general", "/admin/deployment"],
      ["/organizations", "/admin/members"],
      ["/organizations/coder", "/admin/members?organization=coder"],
      ["/organizations/coder/members", "/admin/members?organization=coder"],
      ["/organizations/coder/provisioners", "/admin/provisioners?organization=coder"],
      ["/organizations/coder/provisioner-jobs", "/admin/jobs?organization=coder"],
    ] as const) {
      await page().goto(`${server.url}${from}`);
      await page().getByRole("heading", { level: 1 }).waitFor();
      const { pathname, search: query } = new URL(page().url());
      expect(`${pathname}${query}`, from).toBe(to);
    }
    await page().goto(`${server.url}/organizations/none-such`);
    await page().getByText(t.errors.notFound).waitFor();
  });

  test("nothing was complained of", () => {
    expect(browser.complaints).toEqual([]);
  });
});
