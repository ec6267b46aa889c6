/** Starts the UI. */

import {
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  QueryClientProvider,
} from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, isStatus } from "./api/errors";
import { I18nProvider, loadCatalogue, preferredLanguage } from "./i18n";
import { allowDialogStyles } from "./lib/nonce";
import { makeRouter } from "./router";
import { TipProvider } from "./ui/Tip";
import "./styles/tokens.css";
import "./styles/base.css";

// What is known is shown in the frame of the click; by itself the library waits for the next turn of the event loop, in
// which a box that was ticked would show its old state again.
notifyManager.setScheduler(queueMicrotask);

function onError(error: Error) {
  if (isStatus(error, 401)) router.options.context.sessionEnded();
}

const queryClient = new QueryClient({
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

allowDialogStyles();
const router = makeRouter(queryClient);

const language = preferredLanguage();
const catalogue = await loadCatalogue(language);
const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <I18nProvider language={language} catalogue={catalogue}>
      <QueryClientProvider client={queryClient}>
        <TipProvider>
          <RouterProvider router={router} />
        </TipProvider>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
