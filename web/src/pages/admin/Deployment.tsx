/** The deployment: its numbers, what runs, and the settings that it runs with. They are set elsewhere. */

import { useQuery } from "@tanstack/react-query";
import { SearchX } from "lucide-react";
import { useEffect, useState } from "react";
import { buildInfoQuery, deploymentConfigQuery } from "@/api/adminQueries";
import type { DeploymentOption } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { groupOptions, isChanged, isSecret, optionText } from "@/lib/options";
import { useTitle } from "@/lib/title";
import { deploymentRoute } from "@/routes/admin";
import { Button } from "@/ui/Button";
import { CopyButton } from "@/ui/CopyButton";
import { Check } from "@/ui/Field";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Badge } from "@/ui/Status";
import { Stats } from "./Stats";
import "./deployment.css";

const PAUSE_MS = 250;

function BuildInfo() {
  const { t } = useAdminI18n();
  const { data, error, refetch } = useQuery(buildInfoQuery);
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={3} />;
  const words = t.admin.deployment.info;
  return (
    <dl className="admin-facts">
      <dt>{words.version}</dt>
      <dd>{data.version}</dd>
      <dt>{words.url}</dt>
      <dd>{data.dashboard_url}</dd>
      <dt>{words.id}</dt>
      <dd className="with-copy">
        <code>{data.deployment_id}</code>
        <CopyButton text={() => data.deployment_id} />
      </dd>
      <dt>{words.agentApi}</dt>
      <dd>{data.agent_api_version}</dd>
      <dt>{words.provisionerApi}</dt>
      <dd>{data.provisioner_api_version}</dd>
      <dt>{words.telemetry}</dt>
      <dd>{data.telemetry ? t.admin.deployment.on : t.admin.deployment.off}</dd>
    </dl>
  );
}

function Value({ option }: { option: DeploymentOption }) {
  const { t } = useAdminI18n();
  const words = t.admin.deployment;
  if (isSecret(option)) {
    return <span className="muted">{isChanged(option) ? words.secretSet : words.secretUnset}</span>;
  }
  const text = optionText(option.value);
  return text === "" ? <span className="muted">{words.empty}</span> : <code>{text}</code>;
}

function Setting({ option }: { option: DeploymentOption }) {
  const { t } = useAdminI18n();
  const words = t.admin.deployment;
  const changed = isChanged(option);
  const source = option.value_source ?? "default";
  const names = [
    [words.names.flag, option.flag && `--${option.flag}`],
    [words.names.env, option.env],
    [words.names.yaml, option.yaml],
  ] as const;
  return (
    <li className="option" data-option={option.flag}>
      <div className="setting-what">
        <h4>{option.name}</h4>
        <p>{option.description}</p>
        <dl className="setting-names">
          {names.map(
            ([word, name]) =>
              name && (
                <div key={word}>
                  <dt>{word}</dt>
                  <dd>
                    <code>{name}</code>
                  </dd>
                </div>
              ),
          )}
        </dl>
      </div>
      <div className="setting-value">
        <Value option={option} />
        <Badge tone={changed ? "busy" : "stopped"}>{words.source[source] ?? source}</Badge>
        {changed && !isSecret(option) && option.default && (
          <span className="muted small">{words.default(option.default)}</span>
        )}
      </div>
    </li>
  );
}

function Settings() {
  const { t } = useAdminI18n();
  const words = t.admin.deployment;
  const search = deploymentRoute.useSearch();
  const navigate = deploymentRoute.useNavigate();
  const { data, error, isPending, refetch } = useQuery(deploymentConfigQuery);
  const sent = search.search ?? "";
  const [text, setText] = useState(sent);
  const [seen, setSeen] = useState(sent);
  if (sent !== seen) {
    setSeen(sent);
    setText(sent);
  }
  useEffect(() => {
    if (text === sent) return;
    const timer = window.setTimeout(() => {
      setSeen(text);
      void navigate({
        search: ({ search: _, ...old }) => (text ? { ...old, search: text } : old),
        replace: true,
      });
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text, sent, navigate]);
  const groups = groupOptions(data?.options ?? [], text, search.changed ?? false);
  const total = groups.reduce((sum, group) => sum + group.options.length, 0);
  return (
    <section className="settings" aria-labelledby="settings-title">
      <h2 id="settings-title">{words.settings}</h2>
      <p className="lead">{words.settingsLead}</p>
      <div className="tools">
        <search className="settings-search">
          <input
            type="search"
            className="input"
            value={text}
            onChange={(event) => setText(event.target.value)}
            aria-label={t.admin.search.settings}
            placeholder={t.admin.search.settings}
            spellCheck={false}
            autoComplete="off"
          />
        </search>
        <Check
          label={words.changed}
          checked={search.changed ?? false}
          onChange={(changed) =>
            void navigate({ search: ({ changed: _, ...old }) => (changed ? { ...old, changed } : old) })
          }
        />
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton rows={8} />}
      {data && total === 0 && (
        <Empty
          icon={SearchX}
          title={t.admin.search.nothingTitle}
          action={<Button onClick={() => void navigate({ search: {} })}>{t.admin.search.clear}</Button>}
        />
      )}
      {groups.map((group) => (
        <section key={group.name} className="setting-group">
          <h3>{group.name || words.general}</h3>
          <ul className="panel-box">
            {group.options.map((option) => (
              <Setting key={option.flag || option.name} option={option} />
            ))}
          </ul>
        </section>
      ))}
      {total > 0 && <p className="list-note">{words.found(total)}</p>}
    </section>
  );
}

export function Deployment() {
  const { t } = useAdminI18n();
  useTitle(t.nav.adminPages.deployment, t.admin.title);
  return (
    <main className="page" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.deployment}</h1>
      </div>
      <h2>{t.admin.deployment.now}</h2>
      <Stats />
      <h2>{t.admin.deployment.build}</h2>
      <BuildInfo />
      <Settings />
    </main>
  );
}
