/** Asks for values before an action that needs some. */

import { lazy, type ReactNode, Suspense, useCallback, useState } from "react";
import type { Ask } from "@/api/actions";

const UpdateDialog = lazy(async () => ({
  default: (await import("./workspace/UpdateDialog")).UpdateDialog,
}));

/** What takes an action that must be asked about, and the dialog that does so while there is one. */
export function useAsking(): { ask: (ask: Ask) => void; dialog: ReactNode } {
  const [asked, setAsked] = useState<Ask>();
  const close = useCallback(() => setAsked(undefined), []);
  const dialog = asked && (
    <Suspense>
      <UpdateDialog {...asked} onClose={close} onBuilt={close} />
    </Suspense>
  );
  return { ask: setAsked, dialog };
}
