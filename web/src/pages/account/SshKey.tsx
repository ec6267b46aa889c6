/** The key pair that workspaces use for git. Only its public half is ever shown. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useState } from "react";
import { sshKeyQuery } from "@/api/accountQueries";
import { account } from "@/api/endpoints";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Secret } from "@/ui/Secret";
import { Time } from "@/ui/Time";
import { AccountPage } from "./AccountPage";

export function SshKey() {
  const t = useT();
  const client = useQueryClient();
  const { data: key, error, isPending, refetch } = useQuery(sshKeyQuery);
  const [asking, setAsking] = useState(false);
  const regenerate = useMutation({
    mutationFn: account.regenerateSshKey,
    onSuccess: (next) => {
      client.setQueryData(sshKeyQuery.queryKey, next);
      setAsking(false);
    },
  });
  return (
    <AccountPage title={t.account.pages.sshKey} lead={t.account.sshKey.lead}>
      {isPending && <Skeleton rows={2} />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {key && (
        <div className="preferences">
          <h2>{t.account.sshKey.public}</h2>
          <Secret label={t.account.sshKey.public} text={key.public_key.trim()} />
          <div className="form-actions">
            <Button icon={RefreshCw} onClick={() => setAsking(true)}>
              {t.account.sshKey.regenerate}
            </Button>
            <span className="muted small">
              <Time at={key.updated_at} say={t.account.sshKey.made} />
            </span>
          </div>
        </div>
      )}
      <Confirm
        title={t.account.sshKey.regenerateTitle}
        lead={t.account.sshKey.regenerateLead}
        action={t.account.sshKey.regenerate}
        danger
        open={asking}
        busy={regenerate.isPending}
        error={regenerate.error}
        onConfirm={() => regenerate.mutate()}
        onClose={() => {
          setAsking(false);
          regenerate.reset();
        }}
      />
    </AccountPage>
  );
}
