/**
 * The texts of areas that few open. They travel with the pages of their area, in every language, so that the first load does
 * not grow with them.
 */

import { useMemo } from "react";
import type { Catalogue } from "./en";
import { type Language, useI18n } from "./index";

/** `useI18n` with the texts of an area beside those of all pages. */
export function useAreaI18n<Texts extends object>(texts: Record<Language, Texts>) {
  const { t, language } = useI18n();
  const merged = useMemo((): Catalogue & Texts => ({ ...t, ...texts[language] }), [t, texts, language]);
  return { t: merged, language };
}
