/** Pages for addresses that lead nowhere and for what should not have happened. */

import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { ApiError, isStatus } from "@/api/errors";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import { Button, ButtonLink } from "@/ui/Button";
import { Empty, ErrorNote } from "@/ui/Notes";

export function NotFound() {
  const t = useT();
  useTitle(t.errors.notFound);
  return (
    <main className="fallback" id="content">
      <Empty
        page
        icon={Compass}
        title={t.errors.notFound}
        action={<ButtonLink to="/workspaces" look="primary" text={t.errors.toWorkspaces} />}
      >
        <p>{t.errors.notFoundNext}</p>
      </Empty>
    </main>
  );
}

export function Crashed({ error, reset }: ErrorComponentProps) {
  const t = useT();
  const router = useRouter();
  if (isStatus(error, 404)) return <NotFound />;
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="fallback" id="content">
      {error instanceof ApiError ? (
        <ErrorNote error={error} onRetry={retry} />
      ) : (
        <>
          <h1>{t.errors.crashed}</h1>
          <p>{t.errors.crashedNext}</p>
          <pre>{error instanceof Error ? (error.stack ?? error.message) : String(error)}</pre>
          <Button onClick={() => window.location.reload()}>{t.common.reload}</Button>
        </>
      )}
    </main>
  );
}
