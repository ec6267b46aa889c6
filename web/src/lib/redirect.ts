/** Where one goes after signing in. */

/** Only addresses of this site: a link must not lead from our sign-in to another site. */
export function safeRedirect(to: string | undefined): string {
  return to && /^\/(?![/\\])/.test(to) ? to : "/workspaces";
}

/** Whether an address of this site is a page of the UI; apps and the API are the server's own. */
export function isPage(path: string): boolean {
  return !/^\/api\/|^\/(@|%40)[^/]+\/[^/]+\/apps\//.test(path);
}
