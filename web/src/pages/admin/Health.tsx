/** What the deployment finds out about its own health, part by part, and what to do about it. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BellOff, CircleAlert, CircleCheck, CircleX, type LucideIcon, RefreshCw } from "lucide-react";
import { healthPermissionsQuery, healthQuery } from "@/api/adminQueries";
import { deployment } from "@/api/endpoints";
import type { HealthReport, HealthSeverity } from "@/api/types";
import type { AdminCatalogue } from "@/i18n/admin";
import { useAdminI18n } from "@/i18n/admin";
import { SECTIONS, type Section, type SectionKey, sectionsOf } from "@/lib/health";
import type { Tone } from "@/lib/status";
import { useTitle } from "@/lib/title";
import { Button } from "@/ui/Button";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { Time } from "@/ui/Time";
import "@/ui/status.css";
import "./health.css";

const LOOKS: Record<HealthSeverity, { tone: Tone; icon: LucideIcon }> = {
  ok: { tone: "running", icon: CircleCheck },
  warning: { tone: "waiting", icon: CircleAlert },
  error: { tone: "failed", icon: CircleX },
};

function Severity({ severity }: { severity: HealthSeverity }) {
  const { t } = useAdminI18n();
  const { tone, icon: Icon } = LOOKS[severity];
  return (
    <span className={`state tone-${tone}`} data-severity={severity}>
      <Icon size={16} aria-hidden />
      {t.admin.health.severity[severity]}
    </span>
  );
}

/** What was measured, by part. */
function factsOf(
  report: HealthReport,
  key: SectionKey,
  t: AdminCatalogue,
  language: string,
): [string, string][] {
  const words = t.admin.health.facts;
  const milliseconds = (value: number) =>
    new Intl.NumberFormat(language, { style: "unit", unit: "millisecond" }).format(value);
  switch (key) {
    case "access_url": {
      const { access_url, status_code, healthz_response } = report.access_url;
      return [
        [words.url, access_url],
        [words.status, status_code ? String(status_code) : ""],
        [words.answer, healthz_response],
      ];
    }
    case "websocket":
      return [
        [words.code, report.websocket.code ? String(report.websocket.code) : ""],
        [words.answer, report.websocket.body],
      ];
    case "database":
      return [
        [words.latency, report.database.reachable ? milliseconds(report.database.latency_ms) : ""],
        [words.threshold, milliseconds(report.database.threshold_ms)],
      ];
    case "provisioner_daemons":
      return [
        [
          words.provisioners,
          report.provisioner_daemons.items.map((item) => item.provisioner_daemon.name).join(", "),
        ],
      ];
    default:
      return [];
  }
}

/** Parts that a deployment may not have at all. */
function noteOf(report: HealthReport, key: SectionKey, t: AdminCatalogue): string | undefined {
  if (key === "derp" && Object.keys(report.derp.regions).length === 0) return t.admin.health.noRelays;
  if (key === "workspace_proxy") {
    const proxies = report.workspace_proxy.workspace_proxies as { regions?: unknown[] } | null;
    if (!proxies?.regions?.length) return t.admin.health.noProxies;
  }
  return undefined;
}

interface PartProps {
  section: Section;
  report: HealthReport;
  mayDismiss: boolean | undefined;
  busy: boolean;
  onDismiss: (dismissed: boolean) => void;
}

function Part({ section, report, mayDismiss, busy, onDismiss }: PartProps) {
  const { t, language } = useAdminI18n();
  const words = t.admin.health;
  const { key, severity, dismissed, problems } = section;
  const facts = factsOf(report, key, t, language).filter(([, value]) => value !== "");
  const note = noteOf(report, key, t);
  const wrong = severity !== "ok";
  const next = (code: string) => {
    const what = words.codes[code];
    return what && <p>{words.todo(what)}</p>;
  };
  return (
    <li className="panel-box part" data-section={key}>
      <div className="part-head">
        <h2>{words.sections[key]}</h2>
        {(wrong || !note) && <Severity severity={severity} />}
        {dismissed && (
          <span className="muted small part-dismissed">
            <BellOff size={16} aria-hidden /> {words.dismissed}
          </span>
        )}
        {(wrong || dismissed) && (
          <Button
            why={mayDismiss === false ? t.admin.why.mayNot : undefined}
            busy={busy}
            onClick={() => onDismiss(!dismissed)}
          >
            {dismissed ? words.restore : words.dismiss}
          </Button>
        )}
      </div>
      {note && <p className="muted">{note}</p>}
      {facts.length > 0 && (
        <dl className="admin-facts">
          {facts.map(([word, value]) => (
            <div key={word} className="fact">
              <dt>{word}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {!dismissed &&
        problems.map((problem) => (
          <div
            key={problem.code + problem.message}
            className={`note note-${problem.error ? "failed" : "waiting"}`}
          >
            {problem.error ? <CircleX size={16} aria-hidden /> : <CircleAlert size={16} aria-hidden />}
            <div>
              <p className="note-title">
                {problem.code && <code>{problem.code}</code>} {problem.message}
              </p>
              {next(problem.code)}
            </div>
          </div>
        ))}
    </li>
  );
}

export function Health() {
  const { t } = useAdminI18n();
  const words = t.admin.health;
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(healthQuery);
  const { data: may } = useQuery(healthPermissionsQuery);
  const again = useMutation({
    mutationFn: () => deployment.health(true),
    onSuccess: (report) => client.setQueryData(healthQuery.queryKey, report),
  });
  const sections = data ? sectionsOf(data) : [];
  const dismiss = useMutation({
    mutationFn: ({ key, on }: { key: SectionKey; on: boolean }) =>
      deployment.dismissHealth({
        dismissed_healthchecks: sections
          .filter((section) => (section.key === key ? on : section.dismissed))
          .map((section) => SECTIONS[section.key]),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: healthQuery.queryKey }),
  });
  useTitle(t.nav.adminPages.health, t.admin.title);
  return (
    <main className="page page-health" id="content">
      <div className="page-head">
        <h1>{t.nav.adminPages.health}</h1>
        <Button icon={RefreshCw} busy={again.isPending} onClick={() => again.mutate()}>
          {again.isPending ? words.checking : words.refresh}
        </Button>
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {again.error && <ErrorNote error={again.error} />}
      {dismiss.error && <ErrorNote error={dismiss.error} />}
      {isPending && <Skeleton rows={6} />}
      {data && (
        <>
          <p className="health-summary" role="status">
            <Severity severity={data.severity} />
            <span>{words.summary[data.severity]}</span>
            <span className="muted small">
              <Time at={data.time} say={words.checked} /> · {data.coder_version}
            </span>
          </p>
          <ul className="parts">
            {sections.map((section) => (
              <Part
                key={section.key}
                section={section}
                report={data}
                mayDismiss={may?.dismiss}
                busy={dismiss.isPending}
                onDismiss={(on) => dismiss.mutate({ key: section.key, on })}
              />
            ))}
          </ul>
        </>
      )}
    </main>
  );
}
