/** Around every component test: the mock API, what jsdom lacks of a browser, and that nothing goes wrong unnoticed. */

import { setMaxListeners } from "node:events";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { connection } from "@/api/connection";
import { emptyWorld } from "../../mock-api/world";
import { server } from "./server";
import { surprises } from "./surprises";

/** Element names that jsdom does not know yet, which React says of them. */
const UNKNOWN_TAGS = ["search"];

/**
 * What does not come is waited for this long; what does is there within the second, also on a busy machine. Whether
 * something is hidden would be computed from styles that are not there, at great length.
 */
configure({
  asyncUtilTimeout: 5000,
  defaultHidden: true,
  // What there is to read says more than thousands of lines of elements.
  getElementError: (message) => new Error(`${message}\n\nThe page says: ${document.body.textContent}`),
});

// Every mocked stream listens to one channel of the mock.
setMaxListeners(0);

class NoObserver {
  observe() {}
  unobserve() {}
  disconnect() {}
}

const query = (media: string) =>
  Object.assign(new EventTarget(), { media, matches: false, onchange: null }) as unknown as MediaQueryList;

// Layout, which jsdom does not do: nothing has a size, and nothing scrolls.
Object.assign(window, {
  ResizeObserver: NoObserver,
  IntersectionObserver: NoObserver,
  matchMedia: query,
  scrollTo: () => undefined,
});
Object.assign(Element.prototype, {
  scrollIntoView: () => undefined,
  hasPointerCapture: () => false,
  setPointerCapture: () => undefined,
  releasePointerCapture: () => undefined,
});
// The layer on top of the page: what is in it is simply there.
Object.assign(HTMLElement.prototype, { showPopover: () => undefined, hidePopover: () => undefined });

beforeAll(() =>
  server.listen({
    onUnhandledRequest: (request) => {
      surprises.note(`request without a handler: ${request.method} ${request.url}`);
    },
  }),
);

beforeEach(() => {
  for (const level of ["error", "warn"] as const) {
    vi.spyOn(console, level).mockImplementation((...words) => {
      const [text, tag] = words.map(String);
      if (text?.startsWith("The tag <%s> is unrecognized") && UNKNOWN_TAGS.includes(tag ?? "")) return;
      surprises.note(`console.${level}: ${words.map(String).join(" ")}`);
    });
  }
});

afterEach(() => {
  cleanup();
  server.resetHandlers();
  connection.answered(emptyWorld().version);
  localStorage.clear();
  vi.restoreAllMocks();
  vi.useRealTimers();
  expect(surprises.take()).toEqual([]);
});

afterAll(() => server.close());
