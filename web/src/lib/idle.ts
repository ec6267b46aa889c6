/** Doing things while nothing else is to do. */

/** Not every browser says when it is idle; this long after a page is there it mostly is. */
const USUALLY_IDLE_MS = 1000;

/** Runs a task once the browser is idle, unless the returned function is called before. */
export function whenIdle(task: () => void): () => void {
  if (typeof window.requestIdleCallback === "function") {
    const handle = window.requestIdleCallback(task);
    return () => window.cancelIdleCallback(handle);
  }
  const timer = window.setTimeout(task, USUALLY_IDLE_MS);
  return () => window.clearTimeout(timer);
}
