/** Links in texts that others have written: only to this site, or to others by https. */

export interface SafeLink {
  href: string;
  /** It leads away from this site. */
  external: boolean;
}

/** What a link may open; `undefined` for everything that could run in our page or open a program. */
export function safeLink(url: string, origin: string): SafeLink | undefined {
  let target: URL;
  try {
    target = new URL(url, origin);
  } catch {
    return undefined;
  }
  if (target.username || target.password) return undefined;
  if (target.origin === origin) {
    return { href: target.pathname + target.search + target.hash, external: false };
  }
  return target.protocol === "https:" ? { href: target.href, external: true } : undefined;
}
