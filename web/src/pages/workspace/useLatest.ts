/** Does something when a workspace gets another latest build. */

import { useEffect, useRef } from "react";
import type { Workspace } from "@/api/types";

export function useLatest(workspace: Workspace, onNewer: () => void) {
  const { id } = workspace.latest_build;
  const known = useRef(id);
  const said = useRef(onNewer);
  said.current = onNewer;
  useEffect(() => {
    if (known.current !== id) said.current();
    known.current = id;
  }, [id]);
}
