/** The plural forms of English and French, chosen by the platform's rules. */

type Forms = { one: string; other: string };

const rules = new Map<string, Intl.PluralRules>();

export function plural(language: string, value: number, forms: Forms): string {
  let rule = rules.get(language);
  if (!rule) {
    rule = new Intl.PluralRules(language);
    rules.set(language, rule);
  }
  return rule.select(value) === "one" ? forms.one : forms.other;
}
