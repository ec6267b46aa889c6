/** Versions of the server and of what works for it. */

/** The release that two versions have to share: without the patch and what follows it, as the health report compares. */
export function release(version: string): string {
  return version.split(".", 2).join(".");
}
