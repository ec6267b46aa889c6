/** How a template is used: people by day, and how long its builds take. */

import { useQuery } from "@tanstack/react-query";
import { ChartColumn } from "lucide-react";
import { dailyUsersQuery } from "@/api/templateQueries";
import type { Template } from "@/api/types";
import { useI18n, useT } from "@/i18n";
import { dayOf, lastDays } from "@/lib/days";
import { duration } from "@/lib/time";
import { DayChart } from "@/ui/Chart";
import { Empty, ErrorNote, Skeleton } from "@/ui/Notes";
import { Table } from "@/ui/Table";
import { Part } from "./Part";
import { useTemplate } from "./useTemplate";

const DAYS_SHOWN = 30;
const TRANSITIONS = ["start", "stop", "delete"] as const;

function DailyUsers({ template }: { template: Template }) {
  const t = useT();
  const words = t.template.insights;
  const { data, error, refetch } = useQuery(dailyUsersQuery(template.id));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton rows={5} />;
  const points = lastDays(data.entries, DAYS_SHOWN, dayOf(new Date()));
  if (points.every((point) => point.value === 0)) {
    return (
      <Empty icon={ChartColumn} title={words.noUsers}>
        <p>{words.noUsersText}</p>
      </Empty>
    );
  }
  return <DayChart label={words.daily} unit={words.users} points={points} say={words.point} />;
}

function BuildTimes({ template }: { template: Template }) {
  const { t, language } = useI18n();
  const words = t.template.insights;
  const time = (ms: number | null | undefined) => (ms ? duration(language, ms) : "–");
  const rows = TRANSITIONS.flatMap((transition) => {
    const stats = template.build_time_stats[transition];
    return stats?.P50 ? [{ transition, ...stats }] : [];
  });
  if (rows.length === 0) return <p className="muted small">{words.noBuilds}</p>;
  return (
    <Table
      label={words.buildTimes}
      rows={rows}
      rowKey={(row) => row.transition}
      columns={[
        { title: words.action, cell: (row) => t.transition[row.transition] },
        { title: words.half, cell: (row) => <span className="tabular">{time(row.P50)}</span> },
        { title: words.most, cell: (row) => <span className="tabular">{time(row.P95)}</span> },
      ]}
    />
  );
}

export function Insights() {
  const t = useT();
  const template = useTemplate();
  return (
    <Part template={template} title={t.template.pages.insights}>
      <section className="panel-card">
        <h3>{t.template.insights.daily}</h3>
        <DailyUsers template={template} />
      </section>
      <section className="panel-card">
        <h3>{t.template.insights.buildTimes}</h3>
        <BuildTimes template={template} />
      </section>
    </Part>
  );
}
