/** Which entry of the main navigation an address belongs to. */

export type Area = "workspaces" | "templates" | "admin" | "account";

const AREAS: [RegExp, Area][] = [
  // A workspace is made from a template, but it is a workspace that one makes.
  [/^\/(workspaces|@[^/]*|templates\/[^/]+\/workspace)(\/|$)/, "workspaces"],
  [/^\/templates(\/|$)/, "templates"],
  [/^\/admin(\/|$)/, "admin"],
  [/^\/settings(\/|$)/, "account"],
];

export const areaOf = (pathname: string): Area | undefined =>
  AREAS.find(([pattern]) => pattern.test(pathname))?.[1];
