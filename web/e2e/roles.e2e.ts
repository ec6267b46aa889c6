/**
 * Pages × roles: what each person is offered and shown is compared with what the server answers to that person. Nothing
 * here says who may see what: that is asked of the server, with the requests that the page itself sends for its data.
 */

import type { Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ADMIN_PAGES } from "../src/lib/adminPages";
import { SITE_CHECKS } from "../src/lib/siteChecks";
import { en as t } from "../src/testing/texts";
import { Browser } from "./browser";
import { Person } from "./people";
import { Server } from "./server";

const ROLES = ["owner", "user-admin", "template-admin", "auditor", "member"] as const;
type Role = (typeof ROLES)[number];
type Answers = Record<keyof typeof SITE_CHECKS, boolean>;

/** Pages that are for everybody who is signed in. */
const FOR_ALL = ["/workspaces", "/templates", "/settings/account"];
/** What every page asks, whatever it shows. */
const COMMON =
  /\/api\/v2\/(authcheck|buildinfo|users\/me|users\/roles|organizations|experiments|appearance)(\?|$)/;

let server: Server;
let browser: Browser;
const people = {} as Record<Role, Person>;
/** The requests for the data of each page, as the owner's browser sent them, and how much came back. */
const asked: Record<string, { path: string; amount: number }[]> = {};

/** How many things an answer holds: the server leaves out of lists what one may not see. */
function amountOf(body: unknown): number {
  if (Array.isArray(body)) return body.length;
  if (typeof body !== "object" || body === null) return 0;
  const lists = Object.values(body).filter(Array.isArray);
  return lists.length > 0 ? lists.reduce((sum, list) => sum + list.length, 0) : Object.keys(body).length;
}

/** Opens a page and waits until it shows something: data, or a word about why not. Answers what it asked for. */
async function visit(path: string): Promise<{ path: string; status: number }[]> {
  const { page } = browser;
  const requests: { path: string; status: number }[] = [];
  const listen = (response: Response) => {
    const { pathname, search } = new URL(response.url());
    const of = pathname + search;
    if (of.startsWith("/api/v2/") && response.request().method() === "GET" && !COMMON.test(of)) {
      requests.push({ path: of.slice("/api/v2".length), status: response.status() });
    }
  };
  page.on("response", listen);
  await page.goto(`${server.url}${path}`);
  await page.getByRole("main").getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle");
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  page.off("response", listen);
  return requests;
}

const refused = () => browser.page.getByRole("heading", { name: t.notAllowed.title }).count();

beforeAll(async () => {
  server = await Server.start();
  people.owner = await Person.first(server.url, "owner");
  for (const role of ROLES.slice(1)) {
    people[role] = await people.owner.invite(role, role === "member" ? [] : [role]);
  }
  // Something for every list to hold.
  await server.pushTemplate("owner@example.org", "plain horses eat 7 apples");
  browser = await Browser.start(server.url, "en");
});

afterAll(async () => {
  await browser?.stop();
  await server?.stop();
});

describe.each(ROLES)("%s", (role) => {
  let may: Answers;

  beforeAll(async () => {
    const { body } = await people[role].ask<Answers>("POST", "/authcheck", { checks: SITE_CHECKS });
    may = body;
    await people[role].use(browser);
  });

  test.each(ADMIN_PAGES.map((page) => [page.to, page] as const))("%s", async (to, page) => {
    const sent = await visit(to);
    if (role === "owner") {
      asked[to] = await Promise.all(
        sent.map(async ({ path }) => ({
          path,
          amount: amountOf((await people.owner.ask("GET", path)).body),
        })),
      );
      expect(asked[to].length, `${to} asks for its data`).toBeGreaterThan(0);
    }
    const answers = await Promise.all(
      (asked[to] ?? []).map(async ({ path, amount }) => {
        const { status, body } = await people[role].ask("GET", path);
        return status === 200 && amountOf(body) >= amount;
      }),
    );
    const given = answers.every(Boolean);
    expect(may[page.needs], "the answer to /authcheck and to the requests for the data").toBe(given);

    expect((await refused()) === 0, `${to} shows its content`).toBe(given);
    const offered = browser.page
      .getByRole("navigation", { name: t.admin.title })
      .getByRole("link", { name: t.nav.adminPages[page.word], exact: true });
    expect((await offered.count()) === 1, `the navigation offers ${to}`).toBe(given);
    expect(
      sent.filter(({ status }) => status >= 400),
      "nothing is asked that is refused",
    ).toEqual([]);
    if (!given) {
      await browser.page.getByText(t.notAllowed.next).waitFor();
      expect(await browser.page.getByRole("table").count(), "no list stands in its place").toBe(0);
      if (role === "member" && to === ADMIN_PAGES[0]?.to) await browser.examine("not-allowed");
    }
  });

  test("the way into the admin area is open to those for whom there is a page", async () => {
    const any = ADMIN_PAGES.filter((page) => may[page.needs]);
    await visit("/workspaces");
    const main = browser.page.getByRole("navigation", { name: t.nav.main });
    const link = main.getByRole("link", { name: t.nav.admin, exact: true });
    expect((await link.count()) === 1).toBe(any.length > 0);
    await visit("/admin");
    expect(new URL(browser.page.url()).pathname).toBe(any[0]?.to ?? "/admin");
    expect((await refused()) === 1).toBe(any.length === 0);
  });

  test.each(FOR_ALL)("%s is for everybody", async (path) => {
    const sent = await visit(path);
    expect(await refused()).toBe(0);
    expect(sent.filter(({ status }) => status >= 400)).toEqual([]);
  });

  test("only those who may create users are offered to", async () => {
    if (!may.readUsers) return expect(may.createUsers).toBe(false);
    await visit("/admin/users");
    const offered = await browser.page.getByRole("button", { name: t.admin.users.create }).count();
    expect(offered === 1).toBe(may.createUsers);
    // A member of the list, who is neither the reader nor an owner: what the menu allows is what the server would.
    const about = role === "auditor" ? "template-admin" : "auditor";
    await browser.page.getByRole("button", { name: t.admin.users.actionsOf(about) }).click();
    const { body } = await people[role].ask<Record<string, boolean>>("POST", "/authcheck", {
      checks: {
        [t.admin.users.changeRoles]: { object: { resource_type: "assign_role" }, action: "assign" },
        [t.admin.users.reset]: { object: { resource_type: "user" }, action: "update_personal" },
        [t.admin.users.suspend]: { object: { resource_type: "user" }, action: "update" },
        [t.admin.users.remove]: { object: { resource_type: "user" }, action: "delete" },
      },
    });
    for (const [action, allowed] of Object.entries(body)) {
      const item = browser.page.getByRole("menuitem", { name: action });
      await expect
        .poll(async () => (await item.getAttribute("aria-disabled")) !== "true", { message: action })
        .toBe(allowed);
    }
  });

  test("nothing was complained of", () => {
    expect(browser.complaints).toEqual([]);
  });
});
