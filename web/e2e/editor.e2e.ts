/** Templates without a terminal: made from a starter and from one's own files, edited, built, published, compared. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytes } from "../src/lib/bytes";
import { readTar } from "../src/lib/tar";
import { en, fr } from "../src/testing/texts";
import { Browser, type Language, nameIn } from "./browser";
import { Server } from "./server";

const run = promisify(execFile);
const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";
const MEMBER = "member@example.org";
/** An import downloads what Terraform needs, once. */
const IMPORT = { timeout: 60_000 };

const HEAD = `terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
  }
}
`;
const BROKEN = `${HEAD}
resource "terraform_data" "box" {
  inptu = "x"
}
`;
const GOOD = `${HEAD}
data "coder_parameter" "size" {
  name         = "size"
  display_name = "Size of the disk"
  default      = "7"
  type         = "number"
}

resource "terraform_data" "box" {
  input = "x"
}
`;
const NEEDS = `${HEAD}
variable "region" {
  type        = string
  description = "Where it runs"
}

variable "password" {
  type      = string
  sensitive = true
}

data "coder_parameter" "size" {
  name         = "size"
  display_name = "Size <b>of</b> it"
  default      = "7"
}

resource "terraform_data" "box" {
  input = var.region
}
`;
/** Nothing of this may run, or be read as anything but text. */
const HOSTILE_NAME = "<img src=x onerror=window.hacked=1>.md";
const HOSTILE_TEXT = `# <script>window.hacked=1</script>
<img src=x onerror=window.hacked=1> \u001b[31mred \u202Ereversed
${"long ".repeat(2000)}
`;

const languages: [Language, typeof en][] = [
  ["en", en],
  ["fr", fr],
];

let server: Server;
let scratch: string;
let token: string;

async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${server.url}/api/v2${path}`, {
    method,
    headers: token ? { "Coder-Session-Token": token } : {},
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** A folder with these files. */
async function folder(name: string, files: Record<string, string | Uint8Array>): Promise<string> {
  const root = join(scratch, name);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "coder-e2e-files-"));
  server = await Server.start();
  const who = { email: EMAIL, username: "owner", password: PASSWORD };
  const { organization_id } = await api<{ organization_id: string }>("POST", "/users/first", who);
  ({ session_token: token } = await api<{ session_token: string }>("POST", "/users/login", who));
  await api("POST", "/users", {
    email: MEMBER,
    username: "member",
    password: PASSWORD,
    organization_ids: [organization_id],
    login_type: "password",
  });
});

afterAll(async () => {
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

async function signIn(browser: Browser, t: typeof en, email: string) {
  const { page } = browser;
  await page.goto(`${server.url}/login`);
  await page.getByRole("textbox", { name: t.login.email }).fill(email);
  await page.getByLabel(t.login.password, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: t.login.submit, exact: true }).click();
  await page.waitForURL("**/workspaces");
}

describe.each(languages)("in %s", (language, t) => {
  let browser: Browser;
  const named = (name: string) => nameIn(language, name);
  const template = (name: string) =>
    api<{ id: string; active_version_id: string; display_name: string; description: string }>(
      "GET",
      `/organizations/default/templates/${named(name)}`,
    );

  beforeAll(async () => {
    browser = await Browser.start(server.url, language);
    await signIn(browser, t, EMAIL);
  });

  afterAll(async () => {
    await browser?.stop();
  });

  const button = (name: string) => browser.page.getByRole("button", { name, exact: true });
  const link = (name: string) => browser.page.getByRole("link", { name, exact: true });
  const field = (name: string) => browser.page.getByRole("textbox", { name });
  const nameField = () => browser.page.getByRole("textbox", { name: t.editor.fresh.name, exact: true });
  const editorText = () => browser.page.locator(".cm-content");

  test("a starter becomes a template, and a taken name does not import it twice", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates/new`);
    await link(t.editor.fresh.useStarter("Local")).waitFor();
    await browser.examine("new-template");
    await button(`${t.editor.fresh.readme}: Local`).click();
    await page.getByRole("dialog").getByText("the quickest way to see everything work").waitFor();
    await page.keyboard.press("Escape");
    await link(t.editor.fresh.useStarter("Local")).click();
    await page.waitForURL("**exampleId=local*");
    await field(t.editor.fresh.displayName).fill("On this machine");
    await nameField().fill(named("local"));
    await browser.examine("new-template-form");
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.fresh.ready("On this machine")).waitFor(IMPORT);
    await link(t.editor.fresh.newWorkspace).waitFor();
    await browser.examine("new-template-ready");
    expect(await template("local")).toMatchObject({ display_name: "On this machine" });

    await page.goto(`${server.url}/templates/new?exampleId=local`);
    await nameField().fill(named("local"));
    await button(t.editor.fresh.submit).click();
    await page.getByRole("alert").waitFor(IMPORT);
    const imported = new URL(page.url()).searchParams.get("version");
    // After a reload it goes on with what was imported.
    await page.reload();
    await nameField().fill(named("again"));
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.fresh.ready("Local")).waitFor(IMPORT);
    expect((await template("again")).active_version_id).toBe(imported);
  });

  test("a zip with a mistake tells where it is; the mended folder becomes a template", async () => {
    const { page } = browser;
    const broken = await folder(`broken-${language}`, { "main.tf": BROKEN });
    const zip = join(scratch, `broken-${language}.zip`);
    await run("python3", ["-m", "zipfile", "-c", zip, broken]);
    await page.goto(`${server.url}/templates/new`);
    await page.locator('[data-input="archive"]').setInputFiles(zip);
    await page.waitForURL("**from=upload*");
    await page.getByText(t.editor.files(1)).waitFor();
    await nameField().fill(named("workshop"));
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.import.failed).waitFor(IMPORT);
    await page.locator(".problems").getByText(t.editor.import.place("main.tf", 10)).waitFor();
    await page.locator(".problems").getByText("Unsupported argument").waitFor();
    await browser.examine("new-template-failed");

    const good = await folder(`good-${language}`, {
      "main.tf": GOOD,
      "README.md": "# Workshop\n",
      "scripts/start.sh": '#!/bin/sh\necho "hello $USER"\n',
      Dockerfile: "FROM scratch\n",
      "logo.png": new Uint8Array([0x89, 0x50, 0, 1, 2, 3]),
      ".env": "SECRET=1\n",
    });
    await link(t.editor.fresh.other).first().click();
    await page.locator('[data-input="folder"]').setInputFiles(good);
    await page.getByText(t.editor.files(5)).waitFor();
    await nameField().fill(named("workshop"));
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.fresh.ready(named("workshop"))).waitFor(IMPORT);
  });

  test("what is no template is refused before anything is sent, and what is dropped is read", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates/new`);
    const readme = await folder(`no-template-${language}`, { "README.md": "nothing" });
    await page.locator('[data-input="folder"]').setInputFiles(readme);
    await page.getByText(t.editor.uploadProblems.noTerraform).waitFor();
    const dropped = await page.evaluateHandle((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "main.tf"));
      return data;
    }, GOOD);
    await page.locator(".drop").dispatchEvent("drop", { dataTransfer: dropped });
    await page.waitForURL("**from=upload*");
    await page.getByText(t.editor.files(1)).waitFor();
  });

  test("values that the template lacks are asked for", async () => {
    const { page } = browser;
    await page.goto(`${server.url}/templates/new`);
    const needs = await folder(`needs-${language}`, { "main.tf": NEEDS, [HOSTILE_NAME]: HOSTILE_TEXT });
    await page.locator('[data-input="folder"]').setInputFiles(needs);
    await nameField().fill(named("needs"));
    await button(t.editor.fresh.submit).click();
    await page.getByText(t.editor.variables.title).waitFor(IMPORT);
    await field("region").fill("north");
    await page.getByLabel("password", { exact: true }).fill("s3cret");
    await browser.examine("new-template-values");
    await button(t.editor.variables.submit).click();
    await page.getByText(t.editor.fresh.ready(named("needs"))).waitFor(IMPORT);
    const { active_version_id } = await template("needs");
    const variables = await api<unknown[]>("GET", `/templateversions/${active_version_id}/variables`);
    expect(variables).toContainEqual(expect.objectContaining({ name: "region", value: "north" }));
  });

  test("a version shows its files as text, its log, its resources and its parameters", async () => {
    const { page } = browser;
    const { active_version_id } = await template("workshop");
    const { name } = await api<{ name: string }>("GET", `/templateversions/${active_version_id}`);
    await page.goto(`${server.url}/templates/${named("workshop")}/versions/${name}`);
    await page.locator(".code-line", { hasText: "coder_parameter" }).waitFor();
    expect(await page.locator(".code-line .code-keyword", { hasText: "terraform" }).count()).toBe(1);
    await browser.examine("version-files");
    await page.locator(".code-number").nth(8).click();
    await page.waitForURL("**line=9*");
    await link("logo.png").click();
    await page.getByText(t.editor.version.binary(bytes(language, 6))).waitFor();
    for (const panel of ["changes", "log", "resources", "parameters"] as const) {
      await link(t.editor.version.panels[panel]).click();
      await page.waitForURL(`**panel=${panel}`);
      const shown = {
        changes: t.editor.version.firstVersion,
        log: "Cleaning Up",
        resources: "box",
        parameters: "Size of the disk",
      };
      await page.getByText(shown[panel]).first().waitFor();
      await browser.examine(`version-${panel}`);
    }
  });

  test("nothing in a template is read as anything but text", async () => {
    const { page } = browser;
    const before = page.url();
    const { active_version_id } = await template("needs");
    const message = "Mended <b>it</b>";
    const { name } = await api<{ name: string }>("PATCH", `/templateversions/${active_version_id}`, {
      message,
    });
    await page.goto(`${server.url}/templates/${named("needs")}/versions/${name}`);
    await page.getByText(message).waitFor();
    await page.getByRole("link", { name: HOSTILE_NAME }).click();
    await page.getByText("<script>window.hacked=1</script>").waitFor();
    await browser.examine("version-hostile");
    await link(t.editor.version.panels.parameters).click();
    await page.getByText("Size <b>of</b> it").waitFor();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    await page.goto(before);
  });

  test("a mistake is shown at its line, and changes are not lost by a slip", async () => {
    const { page } = browser;
    await link(t.editor.version.edit).click();
    await page.waitForURL("**/edit");
    await editorText().getByText("terraform_data").waitFor();
    await browser.examine("edit");
    const before = new URL(page.url()).pathname;

    await editorText().getByText('"x"').click();
    await page.keyboard.press("Home");
    await page.keyboard.type("nonsense = 1 # ");
    await page.getByText(t.editor.edit.unsaved(1)).waitFor();
    // What was not built is not lost by a slip.
    await page.getByRole("link", { name: t.nav.workspaces }).first().click();
    await page.getByRole("dialog").getByText(t.editor.edit.leaveTitle).waitFor();
    await button(t.common.cancel).click();
    expect(new URL(page.url()).pathname).toBe(before);

    await editorText().focus();
    await page.keyboard.press("Control+s");
    await page.locator(".problems").getByText("Unsupported argument").waitFor(IMPORT);
    expect(new URL(page.url()).pathname).not.toBe(before);
    await page.locator(".cm-problem").getByText("nonsense").waitFor();
    await browser.examine("edit-failed", { at: ".edit-output" });
    await link("README.md").click();
    await page.locator(".cm-problem").waitFor({ state: "detached" });
    await link(t.editor.import.place("main.tf", 17)).click();
    await expect.poll(() => page.locator(".cm-activeLine").innerText()).toContain("nonsense");
  });

  test("what was mended is built, published and compared", async () => {
    const { page } = browser;
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+End");
    await page.keyboard.type('input = "mended"');
    await button(t.editor.edit.build).click();
    await page.locator(".version-head").getByText(t.job.succeeded).waitFor(IMPORT);
    await button(t.editor.edit.publish).click();
    await field(t.editor.edit.versionName).fill("not a name");
    await page.getByRole("dialog").getByRole("button", { name: t.editor.edit.publish }).click();
    await page.getByRole("alert").waitFor();
    await field(t.editor.edit.versionName).fill(named("wider"));
    await field(t.editor.edit.message).fill("Another input");
    await browser.examine("edit-publish");
    await page.getByRole("dialog").getByRole("button", { name: t.editor.edit.publish }).click();
    await page.waitForURL(`**/versions/${named("wider")}`);
    await page.getByText(t.editor.version.active, { exact: true }).waitFor();
    await page.getByText("Another input").waitFor();

    const { active_version_id } = await template("workshop");
    const version = await api<{ name: string; message: string; job: { file_id: string } }>(
      "GET",
      `/templateversions/${active_version_id}`,
    );
    expect(version).toMatchObject({ name: named("wider"), message: "Another input" });
    const archive = await fetch(`${server.url}/api/v2/files/${version.job.file_id}`, {
      headers: { "Coder-Session-Token": token },
    });
    const files = new Map(
      readTar(new Uint8Array(await archive.arrayBuffer())).map((each) => [each.path, each]),
    );
    expect(new TextDecoder().decode(files.get("main.tf")?.data)).toBe(GOOD.replace('"x"', '"mended"'));
    expect(files.get("logo.png")?.data).toEqual(new Uint8Array([0x89, 0x50, 0, 1, 2, 3]));
    expect(files.get("scripts/start.sh")?.mode).toBe(0o755);

    await link(t.editor.version.panels.changes).click();
    await page.locator(".diff-added", { hasText: "mended" }).waitFor();
    await browser.examine("version-diff");
  });

  test("an older version is made active again", async () => {
    const { page } = browser;
    const { id, active_version_id } = await template("workshop");
    const versions = await api<{ id: string; name: string; job: { status: string } }[]>(
      "GET",
      `/templates/${id}/versions`,
    );
    const older = versions.find((each) => each.id !== active_version_id && each.job.status === "succeeded");
    await page.goto(
      `${server.url}/templates/${named("workshop")}/versions/${older?.name}?panel=changes&against=active`,
    );
    await page.locator(".diff-removed", { hasText: "mended" }).waitFor();
    await button(t.editor.version.activate).click();
    await page.getByRole("dialog").getByRole("button", { name: t.editor.version.activate }).click();
    await page.getByText(t.editor.version.active, { exact: true }).waitFor();
    expect((await template("workshop")).active_version_id).toBe(older?.id);
  });

  test("files are made, renamed, added and deleted; the editor is left by keyboard", async () => {
    const { page } = browser;
    await link(t.editor.version.edit).click();
    await page.waitForURL("**/edit");
    await button(t.editor.edit.newFile).click();
    await field(t.editor.edit.newFilePath).fill("../outside");
    await button(t.editor.edit.create).click();
    await page.getByText(t.editor.edit.paths.outside).waitFor();
    await field(t.editor.edit.newFilePath).fill("modules/a/new.tf");
    await button(t.editor.edit.create).click();
    await page.getByRole("heading", { name: "modules/a/new.tf" }).waitFor();
    await editorText().click();
    await page.keyboard.type("# new");
    await page.keyboard.press("Tab");
    expect(await editorText().evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await editorText().evaluate((element) => element.contains(document.activeElement))).toBe(false);

    await button(t.editor.edit.actionsOf("modules")).click();
    await page.getByRole("menuitem", { name: t.editor.edit.rename }).click();
    await field(t.editor.edit.newFilePath).fill("parts");
    await page.getByRole("dialog").getByRole("button", { name: t.editor.edit.rename }).click();
    await page.getByRole("heading", { name: "parts/a/new.tf" }).waitFor();
    await page.locator(".edit-side input").setInputFiles({
      name: "added.json",
      mimeType: "application/json",
      buffer: Buffer.from('{"a": 1}'),
    });
    await page.getByRole("heading", { name: "added.json" }).waitFor();
    await button(t.editor.edit.actionsOf("README.md")).click();
    await page.getByRole("menuitem", { name: t.editor.edit.remove }).click();
    await page.getByRole("dialog").getByRole("button", { name: t.editor.edit.remove }).click();
    await page.getByText(t.editor.edit.unsaved(3)).waitFor();
    await browser.examine("edit-files");
    await button(t.editor.edit.build).click();
    await page.locator(".version-head").getByText(t.job.succeeded).waitFor(IMPORT);
    await page.getByText(t.editor.edit.unsaved(3)).waitFor({ state: "detached" });
    await page.reload();
    await link("added.json").waitFor();
    expect(await link("README.md").count()).toBe(0);
  });

  test("an address that leads nowhere says so, and nothing was complained of", async () => {
    const { page } = browser;
    for (const path of ["/templates/none/versions/x", `/templates/${named("workshop")}/versions/none/edit`]) {
      await page.goto(server.url + path);
      await page.getByText(t.errors.notFound).waitFor();
    }
    expect(browser.complaints).toEqual([]);
  });
});

test("somebody who may only use a template is told what is not theirs", async () => {
  const browser = await Browser.start(server.url, "en");
  try {
    await signIn(browser, en, MEMBER);
    const { page } = browser;
    await page.goto(`${server.url}/templates/new`);
    await page.getByText(en.editor.fresh.notAllowed).waitFor();
    await browser.examine("member-new-template");
    await page.goto(`${server.url}/templates/workshop/versions/wider`);
    await page.getByText(en.editor.version.filesHidden).waitFor();
    expect(await page.getByRole("link", { name: en.editor.version.edit, exact: true }).count()).toBe(0);
    await browser.examine("member-version");
    await page.goto(`${server.url}/templates/workshop/versions/wider/edit`);
    await page.getByText(en.editor.version.filesHidden).waitFor();
    expect(browser.complaints).toEqual([]);
  } finally {
    await browser.stop();
  }
});
