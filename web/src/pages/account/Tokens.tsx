/** One's own tokens. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { tokensQuery } from "@/api/accountQueries";
import { tokens } from "@/api/endpoints";
import type { ApiKeyWithOwner } from "@/api/types";
import { useT } from "@/i18n";
import { Button, ButtonLink } from "@/ui/Button";
import { Confirm } from "@/ui/Dialog";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Table } from "@/ui/Table";
import { Time, useNow } from "@/ui/Time";
import { AccountPage } from "./AccountPage";

const MINUTE_MS = 60_000;

/** The API has a year long past for what never was. */
const wasEver = (at: string) => new Date(at).getUTCFullYear() > 1;

function List({ rows, onDelete }: { rows: ApiKeyWithOwner[]; onDelete: (token: ApiKeyWithOwner) => void }) {
  const t = useT();
  const { columns } = t.account.tokens;
  const now = useNow(() => MINUTE_MS);
  return (
    <Table
      label={t.account.pages.tokens}
      rows={rows}
      rowKey={(token) => token.id}
      columns={[
        { title: columns.name, cell: (token) => <span className="token-name">{token.token_name}</span> },
        { title: columns.scope, cell: (token) => t.account.tokens.scopes[token.scope] ?? token.scope },
        { title: columns.created, cell: (token) => <Time at={token.created_at} /> },
        {
          title: columns.used,
          cell: (token) =>
            wasEver(token.last_used) ? (
              <Time at={token.last_used} />
            ) : (
              <span className="muted">{t.account.tokens.never}</span>
            ),
        },
        {
          title: columns.expires,
          cell: (token) =>
            Date.parse(token.expires_at) <= now ? (
              <Badge tone="stopped">{t.account.tokens.expired}</Badge>
            ) : (
              <Time at={token.expires_at} />
            ),
        },
        {
          title: columns.actions,
          actions: true,
          cell: (token) => (
            <Button
              look="quiet"
              icon={Trash2}
              label={t.account.tokens.deleteOf(token.token_name)}
              onClick={() => onDelete(token)}
            />
          ),
        },
      ]}
    />
  );
}

export function Tokens() {
  const t = useT();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(tokensQuery);
  const [going, setGoing] = useState<ApiKeyWithOwner>();
  const remove = useMutation({
    mutationFn: (token: ApiKeyWithOwner) => tokens.delete(token.id),
    onSuccess: (_answer, token) => {
      client.setQueryData(tokensQuery.queryKey, (old) => old?.filter((each) => each.id !== token.id));
      setGoing(undefined);
    },
  });
  return (
    <AccountPage
      title={t.account.pages.tokens}
      lead={t.account.tokens.lead}
      action={
        <ButtonLink to="/settings/tokens/new" look="primary" icon={Plus} text={t.account.tokens.create} />
      }
    >
      {isPending && <Skeleton rows={4} />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <Empty icon={KeyRound} title={t.account.tokens.emptyTitle} />}
      {data && data.length > 0 && <List rows={data} onDelete={setGoing} />}
      <Confirm
        title={going ? t.account.tokens.deleteOf(going.token_name) : ""}
        lead={t.account.tokens.deleteLead}
        action={t.account.tokens.delete}
        danger
        open={going !== undefined}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => going && remove.mutate(going)}
        onClose={() => {
          setGoing(undefined);
          remove.reset();
        }}
      />
      <Outlet />
    </AccountPage>
  );
}
