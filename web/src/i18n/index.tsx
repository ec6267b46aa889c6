/** The language of the page: which one, its texts, and its dates and numbers by the platform's rules. */

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { remembered } from "@/lib/remembered";
import type { Catalogue } from "./en";

export const LANGUAGES = { en: "English", fr: "Français" } as const;
export type Language = keyof typeof LANGUAGES;

const catalogues: Record<Language, () => Promise<Catalogue>> = {
  en: async () => (await import("./en")).en,
  fr: async () => (await import("./fr")).fr,
};

const stored = remembered<Language>("language", (value): value is Language => value in LANGUAGES);

/** What the person chose here before, else the first language of the browser that we speak. */
export function preferredLanguage(asked: readonly string[] = navigator.languages): Language {
  const known = stored.get();
  if (known) return known;
  const found = asked.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES);
  return (found as Language | undefined) ?? "en";
}

interface I18n {
  language: Language;
  t: Catalogue;
  setLanguage: (language: Language) => void;
}

const Context = createContext<I18n | undefined>(undefined);

export const loadCatalogue = (language: Language) => catalogues[language]();

export function I18nProvider(props: { language: Language; catalogue: Catalogue; children: ReactNode }) {
  const [current, setCurrent] = useState({ language: props.language, t: props.catalogue });
  const setLanguage = useCallback((language: Language) => {
    stored.set(language);
    void loadCatalogue(language).then((t) => setCurrent({ language, t }));
  }, []);
  useEffect(() => {
    document.documentElement.lang = current.language;
  }, [current.language]);
  const value = useMemo(() => ({ ...current, setLanguage }), [current, setLanguage]);
  return <Context value={value}>{props.children}</Context>;
}

export function useI18n(): I18n {
  const value = useContext(Context);
  if (!value) throw new Error("useI18n outside of I18nProvider");
  return value;
}

/** The texts. */
export const useT = (): Catalogue => useI18n().t;
