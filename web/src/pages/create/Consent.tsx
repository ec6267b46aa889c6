/** What a link with `mode=auto` asks for. Links come from anywhere, so nothing is made before a person has agreed. */

import { ShieldQuestion } from "lucide-react";
import type { TemplateParameter } from "@/api/types";
import { useT } from "@/i18n";
import { readList, type Values } from "@/lib/parameters";
import { Button } from "@/ui/Button";
import { ErrorNote, Note } from "@/ui/Notes";

interface Props {
  name: string;
  /** The preset's name, when one is chosen. */
  preset: string | undefined;
  parameters: readonly TemplateParameter[];
  values: Values;
  /** Whether the link set it. */
  linked: (name: string) => boolean;
  busy: boolean;
  error: unknown;
  onAgree: () => void;
  onReview: () => void;
}

/** A value as the form would show it. */
function inWords(parameter: TemplateParameter, value: string): string {
  const option = parameter.options.find((each) => each.value === value);
  if (option) return option.name;
  return parameter.type === "list(string)" ? readList(value).join(", ") : value;
}

export function Consent({ name, preset, parameters, values, linked, busy, error, onAgree, onReview }: Props) {
  const t = useT();
  return (
    <section className="consent" aria-label={t.create.consentTitle}>
      <Note icon={ShieldQuestion} tone="waiting">
        <p className="note-title">{t.create.consentTitle}</p>
        <p>{t.create.consentText}</p>
      </Note>
      <dl className="consent-values">
        <div>
          <dt>{t.create.name}</dt>
          <dd className="mono">{name}</dd>
        </div>
        {preset && (
          <div>
            <dt>{t.create.preset}</dt>
            <dd>{preset}</dd>
          </div>
        )}
        {parameters.map((parameter) => (
          <div key={parameter.name}>
            <dt>
              {parameter.display_name || parameter.name}
              {linked(parameter.name) && <span className="origin small">{t.create.origins.link}</span>}
            </dt>
            <dd className="mono">{inWords(parameter, values[parameter.name] ?? "") || "–"}</dd>
          </div>
        ))}
      </dl>
      {error ? <ErrorNote error={error} /> : null}
      <div className="form-actions">
        <Button look="primary" busy={busy} onClick={onAgree}>
          {busy ? t.create.submitting : t.create.submit}
        </Button>
        <Button onClick={onReview}>{t.create.review}</Button>
      </div>
    </section>
  );
}
