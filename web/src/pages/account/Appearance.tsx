/** Theme, language and the font of terminals. */

import { useQuery } from "@tanstack/react-query";
import { Type } from "lucide-react";
import { useMemo } from "react";
import { appearanceQuery, useSaveAppearance } from "@/api/accountQueries";
import { LANGUAGES, type Language, useI18n } from "@/i18n";
import { isInstalled, isTerminalFont, TERMINAL_FONTS, terminalFontFamily } from "@/lib/terminalFont";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { Select } from "@/ui/Field";
import { ErrorNote, Note } from "@/ui/Notes";
import { Saved } from "@/ui/Saved";
import { AccountPage } from "./AccountPage";

const SAMPLE = "$ git status --short\n M src/main.rs  0O 1lI {}[]() => !=";

function FontSample({ font }: { font: string }) {
  const { t } = useI18n();
  const present = useMemo(() => !isTerminalFont(font) || isInstalled(font), [font]);
  return (
    <>
      {isTerminalFont(font) && !present && (
        <Note icon={Type}>{t.account.appearance.fontAbsent(TERMINAL_FONTS[font])}</Note>
      )}
      <section className="field" aria-label={t.account.appearance.sample}>
        <pre className="font-sample" style={{ fontFamily: terminalFontFamily(font, "var(--mono)") }}>
          {SAMPLE}
        </pre>
      </section>
    </>
  );
}

export function Appearance() {
  const { t, language, setLanguage } = useI18n();
  const theme = useTheme();
  const appearance = useQuery(appearanceQuery);
  const save = useSaveAppearance(theme);
  const font = appearance.data?.terminal_font ?? "";
  const fonts = [["", t.account.appearance.fontUsual], ...Object.entries(TERMINAL_FONTS)] as [
    string,
    string,
  ][];
  // A name that only another version of the server knows stays chosen until another one is.
  if (!fonts.some(([name]) => name === font)) fonts.push([font, font]);
  return (
    <AccountPage title={t.account.pages.appearance} lead={t.account.appearance.saved}>
      <div className="form">
        <Select<Theme>
          label={t.nav.theme}
          value={theme}
          options={Object.entries(t.nav.themes) as [Theme, string][]}
          onPick={(next) => {
            setTheme(next);
            save.mutate({ theme: next });
          }}
        />
        <Select<Language>
          label={t.nav.language}
          value={language}
          options={Object.entries(LANGUAGES) as [Language, string][]}
          onPick={setLanguage}
        />
        <Select
          label={t.account.appearance.font}
          hint={t.account.appearance.fontHint}
          value={font}
          options={fonts}
          disabled={!appearance.data}
          onPick={(next) => save.mutate({ font: next })}
        />
        <FontSample font={font} />
        {appearance.error && <ErrorNote error={appearance.error} onRetry={() => void appearance.refetch()} />}
        {save.error && <ErrorNote error={save.error} />}
        <Saved done={save.isSuccess} />
      </div>
    </AccountPage>
  );
}
