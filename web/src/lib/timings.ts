/** The timings of a build as stages on one axis of time, each with what it consists of. */

import type { BuildTimings, WorkspaceBuild } from "@/api/types";

/** Keys of the catalogue's `workspacePage.stages`. */
export type Stage = "queued" | "init" | "plan" | "graph" | "apply" | "connect" | "start" | "stop";

export interface Part {
  key: string;
  /** A resource, an agent or a script. */
  name: string;
  /** What was done to it, as the API says it. */
  note: string;
  from: number;
  to: number;
  failed: boolean;
}

export interface StageSpan {
  stage: Stage;
  from: number;
  to: number;
  failed: boolean;
  parts: Part[];
}

const ORDER: Stage[] = ["queued", "init", "plan", "graph", "apply", "connect", "start", "stop"];

function span(stage: Stage, parts: Part[]): StageSpan {
  parts.sort((a, b) => a.from - b.from || a.to - b.to);
  return {
    stage,
    from: Math.min(...parts.map((part) => part.from)),
    to: Math.max(...parts.map((part) => part.to)),
    failed: parts.some((part) => part.failed),
    parts,
  };
}

/** Scripts that run by a clock belong to no build's way, and are left out. */
export function stagesOf(build: WorkspaceBuild, timings: BuildTimings | undefined, now: number): StageSpan[] {
  const { job } = build;
  const queued: StageSpan = {
    stage: "queued",
    from: Date.parse(job.created_at),
    to: Date.parse(job.started_at ?? job.completed_at ?? new Date(now).toISOString()),
    failed: false,
    parts: [],
  };
  const parts = new Map<Stage, Part[]>();
  const add = (stage: string, part: Omit<Part, "key">) => {
    const known = ORDER.find((each) => each === stage);
    if (!known) return;
    const list = parts.get(known) ?? [];
    list.push({ ...part, key: `${known} ${list.length}` });
    parts.set(known, list);
  };
  const times = (each: { started_at: string; ended_at: string }) => ({
    from: Date.parse(each.started_at),
    to: Math.max(Date.parse(each.started_at), Date.parse(each.ended_at)),
  });
  for (const each of timings?.provisioner_timings ?? []) {
    const note = [each.action, each.source].filter(Boolean).join(" · ");
    add(each.stage, { name: each.resource || each.action, note, failed: false, ...times(each) });
  }
  for (const each of timings?.agent_connection_timings ?? []) {
    add("connect", { name: each.workspace_agent_name, note: "", failed: false, ...times(each) });
  }
  for (const each of timings?.agent_script_timings ?? []) {
    const failed = each.status !== "ok";
    add(each.stage, {
      name: each.display_name,
      note: [each.workspace_agent_name, failed ? `${each.status}, ${each.exit_code}` : ""]
        .filter(Boolean)
        .join(" · "),
      failed,
      ...times(each),
    });
  }
  return [
    queued,
    ...ORDER.flatMap((stage) => {
      const found = parts.get(stage);
      return found ? [span(stage, found)] : [];
    }),
  ];
}

/** Steps of an axis that read well, in milliseconds. */
const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

/** Where an axis of this length has its marks: at most `most`, the first at zero. */
export function ticks(length: number, most: number): number[] {
  const step = STEPS.find((each) => length / each <= most - 1) ?? Math.max(1, Math.ceil(length / (most - 1)));
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
}
