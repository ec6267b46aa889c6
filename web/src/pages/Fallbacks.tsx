/** Pages for addresses that lead nowhere and for what should not have happened. */

import { useQuery } from "@tanstack/react-query";
import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { Compass, Lock } from "lucide-react";
import { ApiError, isStatus } from "@/api/errors";
import { meQuery, siteRolesQuery } from "@/api/queries";
import { useI18n, useT } from "@/i18n";
import { roleName, rolesFor } from "@/lib/roles";
import type { SitePermissions } from "@/lib/siteChecks";
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

/** What one may not see says so, and who can change that; an empty list would say something else. */
export function NotAllowed({ needs }: { needs?: keyof SitePermissions }) {
  const { t, language } = useI18n();
  const { data: me } = useQuery(meQuery);
  const { data: roles } = useQuery(siteRolesQuery);
  useTitle(t.notAllowed.title);
  const list = (names: string[], type: "conjunction" | "disjunction") =>
    new Intl.ListFormat(language, { type }).format(names);
  const mine = me?.roles.length ? me.roles : [{ name: "member", display_name: "" }];
  const enough = needs && roles ? rolesFor(needs, roles) : [];
  return (
    <main className="fallback" id="content">
      <Empty
        page
        icon={Lock}
        title={t.notAllowed.title}
        action={<ButtonLink to="/workspaces" look="primary" text={t.errors.toWorkspaces} />}
      >
        {me && (
          <p>
            {t.notAllowed.who(
              me.username,
              list(
                mine.map((role) => roleName(t, role)),
                "conjunction",
              ),
            )}
          </p>
        )}
        {enough.length > 0 && (
          <p>
            {t.notAllowed.need(
              list(
                enough.map((role) => roleName(t, role)),
                "disjunction",
              ),
            )}
          </p>
        )}
        <p>{t.notAllowed.next}</p>
      </Empty>
    </main>
  );
}

export function Crashed({ error, reset }: ErrorComponentProps) {
  const t = useT();
  const router = useRouter();
  if (isStatus(error, 404)) return <NotFound />;
  if (isStatus(error, 403)) return <NotAllowed />;
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
