/** The health report, part by part, in the order in which people meet the parts. */

import type { HealthMessage, HealthReport, HealthSeverity } from "@/api/types";

/** The report's key of each part, and the name under which it is dismissed. */
export const SECTIONS = {
  access_url: "AccessURL",
  websocket: "Websocket",
  database: "Database",
  provisioner_daemons: "ProvisionerDaemons",
  workspace_proxy: "WorkspaceProxy",
  derp: "DERP",
} as const;

export type SectionKey = keyof typeof SECTIONS;

export interface Section {
  key: SectionKey;
  severity: HealthSeverity;
  dismissed: boolean;
  /** What is wrong: the error first, then the warnings. */
  problems: (HealthMessage & { error: boolean })[];
}

/** An error carries its code in front of its text. */
function splitCode(text: string): HealthMessage {
  const found = /^(E[A-Z]+\d+): /.exec(text);
  return found?.[1] ? { code: found[1], message: text.slice(found[0].length) } : { code: "", message: text };
}

/** All parts. A warning of one provisioner is a warning of their part. */
export function sectionsOf(report: HealthReport): Section[] {
  return (Object.keys(SECTIONS) as SectionKey[]).map((key) => {
    const part = report[key];
    const items = key === "provisioner_daemons" ? report.provisioner_daemons.items : [];
    const warnings = [
      ...part.warnings,
      ...items.flatMap(({ provisioner_daemon, warnings: own }) =>
        own.map(({ code, message }) => ({ code, message: `${provisioner_daemon.name}: ${message}` })),
      ),
    ];
    return {
      key,
      severity: part.severity,
      dismissed: part.dismissed,
      problems: [
        ...(part.error ? [{ ...splitCode(part.error), error: true }] : []),
        ...warnings.map((warning) => ({ ...warning, error: false })),
      ],
    };
  });
}
