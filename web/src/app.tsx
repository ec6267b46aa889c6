/** The UI as a whole: what it remembers, where one is, and in which language. */

import {
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  QueryClientProvider,
} from "@tanstack/react-query";
import { type RouterHistory, RouterProvider } from "@tanstack/react-router";
import { ApiError, isStatus } from "./api/errors";
import { I18nProvider, type Language, loadCatalogue } from "./i18n";
import { makeRouter } from "./router";
import { Tip } from "./ui/Tip";

// What is known is shown in the frame of the click; by itself the library waits for the next turn of the event loop, in
// which a box that was ticked would show its old state again.
notifyManager.setScheduler(queueMicrotask);

/** Everything to be drawn. Without a history the addresses are those of the browser. */
export async function makeApp(language: Language, history?: RouterHistory) {
  function onError(error: Error) {
    if (isStatus(error, 401)) router.options.context.sessionEnded();
  }

  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // What the server has refused it refuses again; a server that is away is waited for.
        retry: (failures, error) => error instanceof ApiError && error.unreachable && failures < 3,
      },
      // Requests to ourselves do not depend on what the browser thinks of the network.
      mutations: { networkMode: "always" },
    },
  });
  const router = makeRouter(client, history);
  const catalogue = await loadCatalogue(language);
  const app = (
    <I18nProvider language={language} catalogue={catalogue}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
        <Tip />
      </QueryClientProvider>
    </I18nProvider>
  );
  return { app, client, router };
}
