/** The choices of theme and language, for menus. */

import { useSaveAppearance } from "@/api/accountQueries";
import { LANGUAGES, useI18n } from "@/i18n";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { MenuChoice, MenuLine } from "@/ui/Menu";

export function Preferences() {
  const { t, language, setLanguage } = useI18n();
  const theme = useTheme();
  const save = useSaveAppearance(theme);
  const choose = (next: Theme) => {
    setTheme(next);
    save.mutate({ theme: next });
  };
  return (
    <>
      <MenuChoice label={t.nav.theme} value={theme} options={t.nav.themes} onChange={choose} />
      <MenuLine />
      <MenuChoice label={t.nav.language} value={language} options={LANGUAGES} onChange={setLanguage} />
    </>
  );
}
