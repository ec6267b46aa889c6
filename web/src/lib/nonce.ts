/** The page's token for styles: the policy refuses those that a script adds without it. */

export function pageNonce(): string {
  const holder = document.querySelector<HTMLElement>('meta[property="csp-nonce"]');
  return holder?.nonce || holder?.getAttribute("nonce") || "";
}

declare global {
  /** Where the library under our dialogs, which keeps the page behind them from scrolling, looks for it. */
  var __webpack_nonce__: string | undefined;
}

/** Lets dialogs add their style. */
export function allowDialogStyles() {
  globalThis.__webpack_nonce__ = pageNonce();
}
