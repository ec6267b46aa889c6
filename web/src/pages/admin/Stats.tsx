/** The deployment's numbers at a glance. */

import { useQuery } from "@tanstack/react-query";
import { deploymentStatsQuery } from "@/api/adminQueries";
import { useAdminI18n } from "@/i18n/admin";
import { bytes } from "@/lib/bytes";
import type { Tone } from "@/lib/status";
import { duration } from "@/lib/time";
import { ErrorNote, Skeleton } from "@/ui/Notes";

interface Number {
  word: string;
  value: string;
  tone?: Tone | undefined;
}

function Numbers({ title, numbers }: { title: string; numbers: Number[] }) {
  return (
    <section className="numbers">
      <h3>{title}</h3>
      <dl>
        {numbers.map(({ word, value, tone }) => (
          <div key={word} className="number">
            <dt>{word}</dt>
            <dd className={tone && `tone-${tone}`}>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function Stats() {
  const { t, language } = useAdminI18n();
  const { data, error, refetch } = useQuery(deploymentStatsQuery);
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton rows={3} />;
  const words = t.admin.deployment.stats;
  const count = (value: number) => new Intl.NumberFormat(language).format(value);
  const { workspaces, session_count } = data;
  const latency = workspaces.connection_latency_ms;
  const milliseconds = (value: number) =>
    value < 0
      ? t.admin.deployment.noValue
      : new Intl.NumberFormat(language, {
          style: "unit",
          unit: "millisecond",
          maximumFractionDigits: 1,
        }).format(value);
  const states = ["running", "building", "pending", "failed", "stopped"] as const;
  const tones: Record<(typeof states)[number], Tone> = {
    running: "running",
    building: "busy",
    pending: "waiting",
    failed: "failed",
    stopped: "stopped",
  };
  const sessions = ["ssh", "vscode", "jetbrains", "reconnecting_pty"] as const;
  return (
    <section className="stats" aria-label={t.admin.deployment.now}>
      <Numbers
        title={t.admin.deployment.workspaces}
        numbers={states.map((state) => ({
          word: words[state],
          value: count(workspaces[state]),
          tone: workspaces[state] > 0 ? tones[state] : undefined,
        }))}
      />
      <Numbers
        title={t.admin.deployment.sessions}
        numbers={sessions.map((kind) => ({ word: words[kind], value: count(session_count[kind]) }))}
      />
      <Numbers
        title={t.admin.deployment.network}
        numbers={[
          { word: words.latency, value: milliseconds(latency.P50) },
          { word: words.slowLatency, value: milliseconds(latency.P95) },
          { word: words.received, value: bytes(language, workspaces.rx_bytes) },
          { word: words.sent, value: bytes(language, workspaces.tx_bytes) },
        ]}
      />
      <p className="list-note">
        {t.admin.deployment.since(
          duration(language, Date.parse(data.collected_at) - Date.parse(data.aggregated_from)),
        )}
      </p>
    </section>
  );
}
