/** What all routes stand on: the root, the routes behind the sign-in, and readers for what stands in an address. */

import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, redirect } from "@tanstack/react-router";
import { isStatus } from "@/api/errors";
import { meQuery } from "@/api/queries";
import type { User } from "@/api/types";
import { Crashed, NotFound } from "@/pages/Fallbacks";
import { Root } from "@/pages/Root";
import { Shell } from "@/pages/Shell";

export interface Context {
  queryClient: QueryClient;
  /** Takes the visitor to the sign-in page and, afterwards, back. */
  sessionEnded: () => void;
}

export const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

export const positive = (value: unknown) => {
  const number = Number(value);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
};

/** Leaves out what is not set, so that addresses stay short. */
export function set<T extends object>(search: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

export const rootRoute = createRootRouteWithContext<Context>()({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Crashed,
});

interface Entering {
  context: Context;
  location: { href: string };
}

const backTo = ({ location }: Entering) => (location.href === "/" ? {} : { redirect: location.href });

/** Whoever has signed in; everybody else comes back here after the sign-in. */
export async function signedIn(entering: Entering): Promise<User> {
  try {
    return await entering.context.queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!isStatus(error, 401)) throw error;
    throw redirect({ to: "/login", search: backTo(entering) });
  }
}

/** Lets in who has signed in with a password of their own. */
export async function needSession(entering: Entering) {
  const me = await signedIn(entering);
  if (me.must_change_password) throw redirect({ to: "/change-password", search: backTo(entering) });
}

/** Everything that needs a session and stands in the frame. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  beforeLoad: needSession,
  component: Shell,
});
