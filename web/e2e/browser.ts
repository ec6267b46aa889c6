/** Debian's Chromium, and what every page is held to. */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type axe from "axe-core";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { source } from "./server";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** How long a step may take before the test says that it does not happen: other tests run beside this one. */
const PATIENCE_MS = 30_000;
const AXE = createRequire(import.meta.url).resolve("axe-core");
/** Screenshots go here when it is set; `e2e/out` is not in the repository. */
const SCREENSHOTS = process.env.CODER_WEB_SCREENSHOTS;

export type Language = "en" | "fr";

/** What a screenshot shows besides the top of the page. */
interface Picture {
  /** A selector of what has to be in sight. */
  at?: string;
  /** All of the page, however long. */
  whole?: boolean;
}

/** A name for one of the languages: tests of both have one server, and pictures are of the English ones. */
export const nameIn = (language: Language, name: string) =>
  language === "en" ? name : `${name}-${language}`;

export class Browser {
  /** What must not happen on any page: scripts that fail, things that the policy forbids, requests to other hosts. */
  readonly complaints: string[] = [];

  private constructor(
    private readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
    private readonly language: Language,
    private readonly profile: string,
  ) {}

  static async start(url: string, language: Language): Promise<Browser> {
    const profile = await mkdtemp(join(tmpdir(), "coder-e2e-chromium-"));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: process.env.CODER_TEST_CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      args: FLAGS,
      locale: language === "fr" ? "fr-FR" : "en-US",
      viewport: { width: 1440, height: 900 },
      reducedMotion: "reduce",
    });
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(PATIENCE_MS);
    const browser = new Browser(context, page, url, language, profile);
    browser.listen(page);
    return browser;
  }

  private listen(page: Page): void {
    page.on("pageerror", (error) => this.complaints.push(`script: ${error.message}`));
    page.on("console", (message) => {
      if (!message.text().includes("Content Security Policy")) return;
      const { url, lineNumber, columnNumber } = message.location();
      this.complaints.push(`${page.url()}, ${url}:${lineNumber}:${columnNumber}: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).host !== new URL(this.url).host) {
        this.complaints.push(`request to another host: ${request.url()}`);
      }
    });
  }

  /** One more tab of the same person. */
  async another(): Promise<Page> {
    const page = await this.context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    this.listen(page);
    return page;
  }

  async stop(): Promise<void> {
    await this.context.close();
    await rm(this.profile, { recursive: true, force: true });
  }

  /** axe-core finds nothing in either theme, and nothing sticks out at 360 px. */
  async examine(name: string, { at, whole = false }: Picture = {}): Promise<void> {
    const { page } = this;
    // Nothing is pointed at.
    await page.mouse.move(0, 0);
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
        // What has changed its colours is drawn with them two frames later.
        await page.evaluate(
          () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
        );
        if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(await source(AXE));
        const { violations } = await page.evaluate(() =>
          (globalThis as unknown as { axe: Pick<typeof axe, "run"> }).axe.run({
            resultTypes: ["violations"],
          }),
        );
        const found = violations.map(
          (each) =>
            `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("\n")}`,
        );
        expect(found, `${name}, ${theme}, ${width} px`).toEqual([]);
        const sticksOut = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(sticksOut, `${name} is too wide at ${width} px`).toBeLessThanOrEqual(0);
        if (SCREENSHOTS) {
          await mkdir(SCREENSHOTS, { recursive: true });
          if (whole) {
            // Not by `fullPage`, which would leave the bar at the bottom where the screen ended.
            const long = await page.evaluate(() => document.documentElement.scrollHeight);
            await page.setViewportSize({ width, height: long });
          }
          await page.evaluate(
            (selector) =>
              selector
                ? document.querySelector(selector)?.scrollIntoView({ block: "nearest" })
                : window.scrollTo(0, 0),
            at,
          );
          await page.screenshot({
            path: join(SCREENSHOTS, `${name}-${this.language}-${theme}-${width}.png`),
          });
        }
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  }
}
