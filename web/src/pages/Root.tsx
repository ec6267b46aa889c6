/** What every page has around it: news of the connection. */

import { useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { RefreshCw, WifiOff } from "lucide-react";
import { useEffect } from "react";
import { useConnection } from "@/api/connection";
import { deployment } from "@/api/endpoints";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import "./root.css";

const KNOCK_EVERY_MS = 2000;

/** Asks the server again and again while it is away, and renews everything once it is back. */
function useHealing(lost: boolean) {
  const client = useQueryClient();
  useEffect(() => {
    if (!lost) return;
    const timer = window.setInterval(() => {
      deployment.buildInfo().catch(() => undefined);
    }, KNOCK_EVERY_MS);
    return () => {
      window.clearInterval(timer);
      // Whoever has found that it is back: a stream, or something that one did, may be first.
      void client.invalidateQueries();
    };
  }, [client, lost]);
}

export function Root() {
  const t = useT();
  const { lost, newVersion } = useConnection();
  useHealing(lost);
  return (
    <>
      <div className="banner" role="status">
        {lost ? (
          <p>
            <WifiOff size={16} aria-hidden /> {t.connection.lost}
          </p>
        ) : newVersion ? (
          <p>
            <RefreshCw size={16} aria-hidden /> {t.connection.newVersion}
            <Button onClick={() => window.location.reload()}>{t.common.reload}</Button>
          </p>
        ) : null}
      </div>
      <Outlet />
    </>
  );
}
