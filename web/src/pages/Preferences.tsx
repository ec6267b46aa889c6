/** The choices of theme and language, for menus. */

import { LANGUAGES, useI18n } from "@/i18n";
import { setTheme, useTheme } from "@/lib/theme";
import { MenuChoice, MenuLine } from "@/ui/Menu";

export function Preferences() {
  const { t, language, setLanguage } = useI18n();
  return (
    <>
      <MenuChoice label={t.nav.theme} value={useTheme()} options={t.nav.themes} onChange={setTheme} />
      <MenuLine />
      <MenuChoice label={t.nav.language} value={language} options={LANGUAGES} onChange={setLanguage} />
    </>
  );
}
