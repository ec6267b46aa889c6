/** Gives the command line and editors a session of their own: made when somebody looks at the page, as stock does it. */

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { sessionKeyQuery } from "@/api/accountQueries";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import { useVisible } from "@/lib/visible";
import { ButtonLink } from "@/ui/Button";
import { ErrorNote, Note } from "@/ui/Notes";
import { Secret } from "@/ui/Secret";
import { AuthPage } from "../auth/AuthPage";

export function CliAuth() {
  const t = useT();
  const visible = useVisible();
  // A page that is opened in the background makes nothing until one turns to it.
  const [seen, setSeen] = useState(visible);
  if (visible && !seen) setSeen(true);
  const key = useQuery({ ...sessionKeyQuery, enabled: seen });
  useTitle(t.account.cli.title);
  return (
    <AuthPage title={t.account.cli.title} lead={t.account.cli.lead}>
      {key.data ? (
        <Secret label={t.account.cli.token} text={key.data.key} copy={t.common.copy} />
      ) : key.error ? (
        <ErrorNote error={key.error} onRetry={() => void key.refetch()} />
      ) : (
        <p role="status" className="muted">
          {seen ? t.account.cli.making : t.account.cli.hidden}
        </p>
      )}
      <Note icon={TriangleAlert}>{t.account.cli.secret}</Note>
      <ButtonLink to="/workspaces" text={t.account.cli.toWorkspaces} />
    </AuthPage>
  );
}
