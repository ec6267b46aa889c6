/**
 * Lets xterm.js work under a policy that forbids inline styles. It makes `<style>` elements, which the policy allows to
 * whoever knows the page's nonce, and sets `style` attributes, which it allows only through the object model. Parts of it
 * take the document that one gives them, others the page's own, so the page's own is adapted, once.
 */

import { pageNonce } from "@/lib/nonce";

function adaptDocument() {
  const { setAttribute } = Element.prototype;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style" && this instanceof HTMLElement) this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  const createElement = document.createElement.bind(document);
  document.createElement = (name: string, options?: ElementCreationOptions) => {
    const element = createElement(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = pageNonce();
    return element;
  };
}

adaptDocument();
