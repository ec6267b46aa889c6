/**
 * The tooltip, of which there is one: whatever has a text in `data-tip` shows it on hover and on keyboard focus, and when
 * it is off also on a click. Rows come and go by the hundred, and one that has tooltips of its own costs more than all else
 * in it.
 */

import { useEffect, useRef } from "react";
import "./tip.css";

const ID = "tip";
/** How long the pointer rests before the tooltip comes, and how long after one the next comes at once. */
const DELAY_MS = 350;
const SOON_MS = 300;
const GAP_PX = 6;
const EDGE_PX = 8;

/** Above the thing, or below it where there is no room; never over the window's edge. */
function place(tip: HTMLElement, target: Element) {
  const at = target.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const above = at.top - GAP_PX - height;
  const top = above < EDGE_PX ? at.bottom + GAP_PX : above;
  const middle = at.left + (at.width - width) / 2;
  const left = Math.max(EDGE_PX, Math.min(middle, document.documentElement.clientWidth - EDGE_PX - width));
  tip.style.translate = `${Math.round(left)}px ${Math.round(top)}px`;
}

const tipped = (at: EventTarget | null) => (at instanceof Element ? at.closest("[data-tip]") : null);

/** Makes the element the tooltip of the page; returns what ends that. */
function attach(tip: HTMLElement): () => void {
  /** What is pointed at or has the focus, whether its tooltip is shown, is still to come, or has been put away. */
  let target: Element | null = null;
  let described: string | null = null;
  let shown = false;
  let hiddenAt = Number.NEGATIVE_INFINITY;
  let timer = 0;
  // What is shown may change, and may leave the page.
  const observer = new MutationObserver(() => {
    const text = target?.isConnected && target.getAttribute("data-tip");
    if (!text) leave();
    else if (text !== tip.textContent) show();
  });

  function hide() {
    window.clearTimeout(timer);
    if (!shown) return;
    shown = false;
    observer.disconnect();
    hiddenAt = performance.now();
    tip.hidePopover();
    if (described === null) target?.removeAttribute("aria-describedby");
    else target?.setAttribute("aria-describedby", described);
  }
  function leave() {
    hide();
    target = null;
  }
  function show() {
    hide();
    const text = target?.getAttribute("data-tip");
    if (!target || !text) return;
    tip.textContent = text;
    tip.showPopover();
    place(tip, target);
    described = target.getAttribute("aria-describedby");
    target.setAttribute("aria-describedby", ID);
    shown = true;
    observer.observe(document, { subtree: true, childList: true, attributeFilter: ["data-tip"] });
  }
  function point(event: PointerEvent) {
    if (event.pointerType === "touch" || tip.contains(event.target as Node)) return;
    const now = tipped(event.target);
    if (now === target) return;
    leave();
    target = now;
    if (performance.now() - hiddenAt < SOON_MS) show();
    else if (now) timer = window.setTimeout(show, DELAY_MS);
  }
  function focus(event: FocusEvent) {
    const now = tipped(event.target);
    if (!now || !(event.target as Element).matches(":focus-visible")) return;
    if (now !== target) leave();
    target = now;
    show();
  }
  /** Whoever tries what is off is told why, also without a mouse. */
  function click(event: MouseEvent) {
    const now = tipped(event.target);
    if (now?.getAttribute("aria-disabled") !== "true") return hide();
    if (now !== target) leave();
    target = now;
    show();
  }
  function scroll(event: Event) {
    if (shown && target && (event.target as Node).contains(target)) hide();
  }
  /** As layers do: the first Escape puts the tooltip away, and nothing else. */
  function press(event: KeyboardEvent) {
    if (!shown || event.key !== "Escape") return;
    event.preventDefault();
    hide();
  }

  const ends = new AbortController();
  const { signal } = ends;
  document.addEventListener("pointerover", point, { signal });
  document.documentElement.addEventListener("pointerleave", leave, { signal });
  document.addEventListener("focusin", focus, { signal });
  document.addEventListener("focusout", leave, { signal });
  document.addEventListener("pointerdown", hide, { signal, capture: true });
  document.addEventListener("click", click, { signal, capture: true });
  window.addEventListener("scroll", scroll, { signal, capture: true, passive: true });
  window.addEventListener("keydown", press, { signal, capture: true });
  return () => {
    leave();
    ends.abort();
  };
}

export function Tip() {
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => (tip.current ? attach(tip.current) : undefined), []);
  return <div ref={tip} id={ID} role="tooltip" popover="manual" className="tip" />;
}
