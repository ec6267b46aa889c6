/** Draws the whole UI at an address, against a mocked deployment: real router, queries, texts and pages. */

import { createMemoryHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent, { PointerEventsCheckLevel } from "@testing-library/user-event";
import type { RequestHandler } from "msw";
import { makeApp } from "@/app";
import type { Language } from "@/i18n";
import { type Deployment, deployment } from "../../mock-api/deployment";
import type { World } from "../../mock-api/world";
import { server } from "./server";

interface Wish {
  /** What there is; else an empty deployment with one person who may do everything. */
  world?: Partial<World>;
  /** What is answered otherwise than the deployment would. */
  but?: RequestHandler[];
  language?: Language;
}

export interface Mounted {
  api: Deployment;
  /** The person at the keyboard. */
  user: ReturnType<typeof userEvent.setup>;
  /** The address that the page shows. */
  at: () => string;
}

/** Opens an address of the UI. */
export async function mount(
  address: string,
  { world, but = [], language = "en" }: Wish = {},
): Promise<Mounted> {
  const api = deployment(world);
  server.use(...but, ...api.handlers);
  const history = createMemoryHistory({ initialEntries: [address] });
  const { app, client } = await makeApp(language, history);
  const { queries, ...others } = client.getDefaultOptions();
  // A server that is away is asked as often as it would be, but without pauses.
  client.setDefaultOptions({ ...others, queries: { ...queries, retryDelay: 1 } });
  render(app);
  // Nothing is laid out, so nothing is behind something else.
  const user = userEvent.setup({ delay: null, pointerEventsCheck: PointerEventsCheckLevel.Never });
  return { api, user, at: () => history.location.href };
}
