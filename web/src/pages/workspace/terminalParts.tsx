/** What the terminal's panel and its page share: the terminal itself when it is needed, its options, and why there is none. */

import { useQuery } from "@tanstack/react-query";
import { Settings2, TerminalSquare } from "lucide-react";
import { lazy } from "react";
import { appearanceQuery, useSaveAppearance } from "@/api/accountQueries";
import { useAction } from "@/api/actions";
import type { Workspace } from "@/api/types";

import { useT } from "@/i18n";
import { canConnect, canStart, type Permissions } from "@/lib/can";
import { isTerminalFont, TERMINAL_FONTS, type TerminalFont } from "@/lib/terminalFont";
import {
  FONT_SIZES,
  type FontSize,
  setCopyOnSelect,
  setFontSize,
  useCopyOnSelect,
  useFontSize,
} from "@/lib/terminalPreferences";
import { useTheme } from "@/lib/theme";
import { Button } from "@/ui/Button";
import { Menu, MenuChoice, MenuLine } from "@/ui/Menu";
import { Empty } from "@/ui/Notes";
import { useAsking } from "../useAsking";

export const Terminal = lazy(async () => ({ default: (await import("@/ui/terminal/Terminal")).Terminal }));

const entries = <Key extends string>(keys: readonly Key[], word: (key: Key) => string) =>
  Object.fromEntries(keys.map((key) => [key, word(key)])) as Record<Key, string>;

/** A key that numbers are not: those would be sorted before all others. */
type SizeKey = `${FontSize} px`;

export function TerminalOptions() {
  const t = useT();
  const words = t.workspacePage.terminal;
  const size = useFontSize();
  const copies = useCopyOnSelect();
  const { data: chosen } = useQuery(appearanceQuery);
  const save = useSaveAppearance(useTheme());
  const font = chosen && isTerminalFont(chosen.terminal_font) ? chosen.terminal_font : "system";
  return (
    <Menu trigger={<Button look="quiet" icon={Settings2} aria-label={words.options} />}>
      <MenuChoice<SizeKey>
        label={words.fontSize}
        value={`${size} px`}
        options={entries(
          FONT_SIZES.map((each): SizeKey => `${each} px`),
          (key) => key,
        )}
        onChange={(key) => setFontSize(key.split(" ")[0] as FontSize)}
      />
      <MenuLine />
      {chosen && (
        <>
          <MenuChoice<TerminalFont | "system">
            label={words.fontFamily}
            value={font}
            options={{ system: words.systemFont, ...TERMINAL_FONTS }}
            onChange={(key) => save.mutate({ font: key === "system" ? "" : key })}
          />
          <MenuLine />
        </>
      )}
      <MenuChoice<"on" | "off">
        label={words.copyOnSelect}
        value={copies ? "on" : "off"}
        options={{ on: words.on, off: words.off }}
        onChange={(key) => setCopyOnSelect(key === "on")}
      />
    </Menu>
  );
}

/** Why there is no terminal, and what can be done. */
export function NoTerminal({ workspace, may }: { workspace: Workspace; may: Permissions | undefined }) {
  const t = useT();
  const { ask, dialog } = useAsking();
  const start = useAction(ask);
  const can = canConnect(workspace, may);
  if (can === "notAllowed") return <Empty icon={TerminalSquare} title={t.why.notAllowed} />;
  if (can === true) {
    const done = workspace.latest_build.job.status === "succeeded";
    return (
      <Empty
        icon={TerminalSquare}
        title={done ? t.workspacePage.agents.none : t.status[workspace.latest_build.status]}
      >
        {done && <p>{t.workspacePage.agents.noneText}</p>}
      </Empty>
    );
  }
  const startable = canStart(workspace, may);
  return (
    <Empty
      icon={TerminalSquare}
      title={t.workspace.stoppedTitle}
      action={
        <Button
          why={startable === true ? undefined : t.why[startable]}
          busy={start.isPending}
          onClick={() => start.mutate({ workspace, action: "start" })}
        >
          {t.actions.start}
        </Button>
      }
    >
      <p>{t.workspace.stoppedText}</p>
      {dialog}
    </Empty>
  );
}
