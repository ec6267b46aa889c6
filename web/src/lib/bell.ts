/** Marks the title of a browser tab that nobody looks at, until somebody does. */

const MARK = "● ";

function unmark() {
  if (document.hidden) return;
  document.removeEventListener("visibilitychange", unmark);
  if (document.title.startsWith(MARK)) document.title = document.title.slice(MARK.length);
}

export function ringTitle() {
  if (!document.hidden || document.title.startsWith(MARK)) return;
  document.title = MARK + document.title;
  document.addEventListener("visibilitychange", unmark);
}
