/**
 * Measures the web UI as a person meets it, in headless Chromium, against the budgets of docs/benchmarks.md. Either it
 * starts the server CODER_TEST_BINARY and fills it, or it looks at the one at CODER_BENCH_URL with CODER_BENCH_TOKEN.
 */

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { test } from "vitest";
import { Browser } from "./browser";
import { Server } from "./server";

const run = promisify(execFile);
const RUNS = Number(process.env.CODER_BENCH_RUNS ?? 5);
const WORKSPACES = 1000;
const LINES = 100_000;
const EMAIL = "owner@example.org";
const PASSWORD = "plain horses eat 7 apples";
/** How long a page is left alone, so that what it does behind does not count for the next step. */
const QUIET_MS = 1500;
const SCROLL_FRAMES = 180;
const SCROLL_PX = 90;

interface Target {
  url: string;
  token: string;
  /** The owner and the name of a running workspace whose build has the long log. */
  workspace: string;
}

interface Load {
  scriptBytes: number;
  interactiveMs: number;
  shift: number;
}

interface Figure {
  what: string;
  stock?: string;
  budget?: string;
  runs: number[];
  show: (value: number) => string;
  holds?: (value: number) => boolean;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const ms = (value: number) => `${Math.round(value)} ms`;
const kB = (value: number) => `${Math.round(value / 1000)} kB`;

/** What runs in every page: sums up layout shifts and notes when something is painted. */
function instruments() {
  const state = { shift: 0 };
  Object.assign(window, {
    bench: {
      state,
      /** The time of the first frame that has what `found` finds, once the page can react to it. */
      painted: (found: () => boolean) =>
        new Promise<number>((resolve) => {
          const settle = () =>
            requestAnimationFrame(() => {
              const channel = new MessageChannel();
              channel.port1.onmessage = () => resolve(performance.now());
              channel.port2.postMessage(0);
            });
          if (found()) {
            settle();
            return;
          }
          const observer = new MutationObserver(() => {
            if (!found()) return;
            observer.disconnect();
            settle();
          });
          observer.observe(document, { childList: true, subtree: true, characterData: true });
        }),
    },
  });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
    })[]) {
      if (!entry.hadRecentInput) state.shift += entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
}

type Bench = { state: { shift: number }; painted: (found: () => boolean) => Promise<number> };
declare global {
  interface Window {
    bench: Bench;
  }
}

/** Counts the bytes of scripts as they come over the wire, headers included. */
async function countScripts(cdp: CDPSession): Promise<() => number> {
  const scripts = new Set<string>();
  let bytes = 0;
  await cdp.send("Network.enable");
  cdp.on("Network.responseReceived", ({ requestId, type }) => {
    if (type === "Script") scripts.add(requestId);
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  return () => bytes;
}

/** Opens a fresh browser, signed in, which has loaded nothing yet. */
async function withPage<T>(target: Target, use: (page: Page, cdp: CDPSession) => Promise<T>): Promise<T> {
  const browser = await Browser.start(target.url, "en");
  try {
    const { page } = browser;
    await page
      .context()
      .addCookies([{ name: "coder_session_token", value: target.token, url: target.url, httpOnly: true }]);
    await page.addInitScript(instruments);
    return await use(page, await page.context().newCDPSession(page));
  } finally {
    await browser.stop();
  }
}

const list = (target: Target, filter: string) =>
  `${target.url}/workspaces?filter=${encodeURIComponent(filter)}`;

/** The first load of the list. */
function load(target: Target, filter: string): Promise<Load> {
  return withPage(target, async (page, cdp) => {
    const scripts = await countScripts(cdp);
    await page.goto(list(target, filter), { waitUntil: "commit" });
    const interactiveMs = await page.evaluate(() =>
      window.bench.painted(() => document.querySelector("[data-workspace]") !== null),
    );
    const scriptBytes = scripts();
    await page.waitForTimeout(QUIET_MS);
    const shift = await page.evaluate(() => window.bench.state.shift);
    return { scriptBytes, interactiveMs, shift };
  });
}

/** From the press on a row to the page of its workspace. */
function change(target: Target, index: number): Promise<number> {
  return withPage(target, async (page) => {
    await page.goto(list(target, ""));
    const link = page.locator("[data-workspace] .row-name a").nth(index);
    await link.waitFor();
    await page.waitForTimeout(QUIET_MS);
    const name = (await link.innerText()).trim();
    const took = page.evaluate(
      (wanted) =>
        new Promise<number>((resolve) => {
          window.addEventListener(
            "click",
            (event) => {
              const painted = () =>
                document.querySelector(".workspace-head h1, .workspace h1")?.textContent?.includes(wanted) ===
                true;
              void window.bench.painted(painted).then((at) => resolve(at - event.timeStamp));
            },
            { capture: true, once: true },
          );
        }),
      name,
    );
    await link.click();
    return took;
  });
}

/** Frames in a second, and the slowest but one in twenty, while a list of all workspaces scrolls. */
function scroll(target: Target): Promise<{ rate: number; slow: number }> {
  return withPage(target, async (page) => {
    await page.goto(list(target, ""));
    await page.locator("[data-workspace]").first().waitFor();
    await page.waitForTimeout(QUIET_MS);
    return page.evaluate(
      ([frames, step]) =>
        new Promise<{ rate: number; slow: number }>((resolve) => {
          const times: number[] = [];
          const frame = (now: number) => {
            times.push(now);
            window.scrollBy(0, step);
            if (times.length <= frames) {
              requestAnimationFrame(frame);
              return;
            }
            const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
            const total = gaps.reduce((sum, gap) => sum + gap, 0);
            gaps.sort((a, b) => a - b);
            resolve({
              rate: (gaps.length / total) * 1000,
              slow: gaps[Math.floor(gaps.length * 0.95)] ?? 0,
            });
          };
          requestAnimationFrame(frame);
        }),
      [SCROLL_FRAMES, SCROLL_PX] as const,
    );
  });
}

/** From the press on the log's tab to its first lines, and to its last. */
function openLog(target: Target): Promise<{ first: number; last: number }> {
  return withPage(target, async (page) => {
    await page.goto(`${target.url}/${target.workspace}?panel=resources`);
    const tab = page.locator('a[href*="panel=log"]').first();
    await tab.waitFor();
    await page.waitForTimeout(QUIET_MS);
    const took = page.evaluate(
      (last) =>
        new Promise<{ first: number; last: number }>((resolve) => {
          window.addEventListener(
            "click",
            async (event) => {
              const text = () => document.querySelector(".log-lines")?.textContent ?? "";
              const first = await window.bench.painted(() => document.querySelector(".log-line") !== null);
              const end = await window.bench.painted(() => text().includes(last));
              resolve({ first: first - event.timeStamp, last: end - event.timeStamp });
            },
            { capture: true, once: true },
          );
        }),
      `item[${LINES}]`,
    );
    await tab.click();
    return took;
  });
}

async function repeat<T>(what: string, step: (index: number) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let index = 0; index < RUNS; index += 1) {
    process.stderr.write(`${what} ${index + 1}/${RUNS}\n`);
    found.push(await step(index));
  }
  return found;
}

/** Makes one workspace as a person would, and copies it in the database. */
async function fill(server: Server): Promise<Target> {
  await server.pushTemplate(EMAIL, PASSWORD);
  await server.coder("create", "bench", "--template", "local", "--yes");
  const database = (await server.admin("server", "postgres-builtin-url", "--raw-url")).trim();
  const sql = fileURLToPath(new URL("bench.sql", import.meta.url));
  const set = [`workspaces=${WORKSPACES}`, `lines=${LINES}`].flatMap((each) => ["--set", each]);
  const strict = ["--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1"];
  await run("psql", [database, ...strict, ...set, "--file", sql]);
  const response = await fetch(`${server.url}/api/v2/users/login`, {
    method: "POST",
    body: JSON.stringify({ email: EMAIL, password: PASSWORD }),
  });
  const { session_token: token } = (await response.json()) as { session_token: string };
  return { url: server.url, token, workspace: "@owner/bench" };
}

async function measure(target: Target): Promise<Figure[]> {
  const one = await repeat("first load, one workspace", () => load(target, "name:bench-00002"));
  const all = await repeat("first load, all workspaces", () => load(target, ""));
  const changes = await repeat("page change", (index) => change(target, index));
  const scrolls = await repeat("scroll", () => scroll(target));
  const logs = await repeat("log", () => openLog(target));
  return [
    {
      what: "JavaScript over the wire, first load of the workspaces page",
      stock: "2.0 MB",
      budget: "≤ 180 kB",
      runs: one.map((each) => each.scriptBytes),
      show: kB,
      holds: (bytes) => bytes <= 180_000,
    },
    {
      what: "interactive, one workspace found",
      stock: "1.3 s",
      budget: "≤ 0.8 s",
      runs: one.map((each) => each.interactiveMs),
      show: ms,
      holds: (time) => time <= 800,
    },
    {
      what: `interactive, ${WORKSPACES} workspaces listed`,
      runs: all.map((each) => each.interactiveMs),
      show: ms,
    },
    {
      what: "layout shift of the first load",
      budget: "≤ 0.02",
      runs: [...one, ...all].map((each) => each.shift),
      show: (value) => value.toFixed(3),
      holds: (value) => value <= 0.02,
    },
    {
      what: "page change, list to workspace, first visit",
      budget: "≤ 100 ms",
      runs: changes,
      show: ms,
      holds: (time) => time <= 100,
    },
    {
      what: `scrolling ${WORKSPACES} workspaces`,
      budget: "60 fps",
      runs: scrolls.map((each) => each.rate),
      show: (value) => `${value.toFixed(1)} fps`,
      holds: (rate) => rate >= 59,
    },
    {
      what: "of its frames, 95 % are drawn within",
      runs: scrolls.map((each) => each.slow),
      show: (value) => `${value.toFixed(1)} ms`,
    },
    {
      what: `log of ${LINES} lines, first lines`,
      budget: "≤ 300 ms",
      runs: logs.map((each) => each.first),
      show: ms,
      holds: (time) => time <= 300,
    },
    { what: "the same, last line", runs: logs.map((each) => each.last), show: ms },
  ];
}

function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ what, stock = "", budget = "", runs, show, holds }) => {
    const value = median(runs);
    const verdict = holds ? (holds(value) ? "yes" : "no") : "";
    const spread = `${show(Math.min(...runs))}–${show(Math.max(...runs))}`;
    return `| ${what} | ${stock} | ${budget} | ${show(value)} | ${spread} | ${verdict} |`;
  });
  return ["| | stock | budget | ours, median | spread | |", "|---|---|---|---|---|---|", ...rows].join("\n");
}

test("bench", async () => {
  const { CODER_BENCH_URL: url, CODER_BENCH_TOKEN: token, CODER_BENCH_WORKSPACE: workspace } = process.env;
  let server: Server | undefined;
  try {
    let target: Target;
    if (url && token) {
      target = { url, token, workspace: workspace ?? "@owner/bench" };
    } else {
      server = await Server.start();
      target = await fill(server);
    }
    const figures = await measure(target);
    console.log(`\n${table(figures)}\n`);
    const out = process.env.CODER_BENCH_OUT;
    if (out) {
      await writeFile(
        out,
        JSON.stringify(
          figures.map(({ what, runs }) => ({ what, runs })),
          null,
          1,
        ),
      );
    }
  } finally {
    await server?.stop();
  }
});
