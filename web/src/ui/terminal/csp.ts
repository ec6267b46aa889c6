/**
 * Lets xterm.js work under a policy that forbids inline styles. It makes `<style>` elements, which the policy allows to
 * whoever knows the page's nonce, and sets `style` attributes, which it allows only through the object model.
 */

import { pageNonce } from "@/lib/nonce";

const createElement = document.createElement.bind(document);

function adapt(element: HTMLElement): HTMLElement {
  if (element instanceof HTMLStyleElement) {
    element.nonce = pageNonce();
  } else {
    const setAttribute = element.setAttribute.bind(element);
    element.setAttribute = (name, value) => {
      if (name === "style") element.style.cssText = value;
      else setAttribute(name, value);
    };
  }
  return element;
}

/** Runs `open` while everything that is created keeps to the policy: xterm.js asks the real document for one style. */
export function openStrictly(open: () => void) {
  document.createElement = strictDocument.createElement;
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** The document, but what it creates keeps to the policy. */
export const strictDocument: Document = new Proxy(document, {
  get(target, key) {
    if (key === "createElement") return (name: string) => adapt(createElement(name));
    const value: unknown = Reflect.get(target, key, target);
    return typeof value === "function" ? value.bind(target) : value;
  },
  set: (target, key, value) => Reflect.set(target, key, value, target),
});
