/** What a link with `mode=auto` asks for. Links come from anywhere, so nothing is made before a person has agreed. */

import { useQuery } from "@tanstack/react-query";
import { ShieldQuestion } from "lucide-react";
import type { ReactNode } from "react";
import { templateVersionQuery } from "@/api/queries";
import type { TemplateParameter } from "@/api/types";
import { useT } from "@/i18n";
import type { Catalogue } from "@/i18n/en";
import { controlOf, readList, type Values } from "@/lib/parameters";
import { Button, ButtonLink } from "@/ui/Button";
import { ErrorNote, Note } from "@/ui/Notes";

interface Props {
  name: string;
  owner: string;
  version: string;
  /** The preset's name, when one is chosen. */
  preset: string | undefined;
  parameters: readonly TemplateParameter[];
  values: Values;
  /** What the link set. */
  linked: { name: boolean; version: boolean; preset: boolean; parameter: (name: string) => boolean };
  busy: boolean;
  error: unknown;
  onAgree: () => void;
  onReview: () => void;
}

/** A value as the form would show it. */
function inWords(t: Catalogue, parameter: TemplateParameter, value: string): string {
  const named = (each: string) => parameter.options.find((option) => option.value === each)?.name;
  const whole = named(value);
  if (whole !== undefined) return whole;
  if (parameter.type === "bool")
    return value === "true" ? t.common.yes : value === "false" ? t.common.no : value;
  if (parameter.type !== "list(string)" || controlOf(parameter) === "radio") return value;
  return readList(value)
    .map((each) => named(each) ?? each)
    .join(", ");
}

function Row({ word, linked, children }: { word: string; linked: boolean; children: ReactNode }) {
  const t = useT();
  return (
    <div>
      <dt>
        {word}
        {linked && <span className="origin small">{t.create.origins.link}</span>}
      </dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Consent(props: Props) {
  const t = useT();
  const { linked, busy, error } = props;
  const version = useQuery(templateVersionQuery(props.version));
  return (
    <section className="consent" aria-label={t.create.consentTitle}>
      <Note icon={ShieldQuestion} tone="waiting">
        <p className="note-title">{t.create.consentTitle}</p>
        <p>{t.create.consentText}</p>
      </Note>
      <dl className="consent-values">
        <Row word={t.create.name} linked={linked.name}>
          {props.name}
        </Row>
        <Row word={t.create.owner} linked={false}>
          {props.owner}
        </Row>
        <Row word={t.create.version} linked={linked.version}>
          {version.data?.name ?? "…"}
        </Row>
        {props.preset && (
          <Row word={t.create.preset} linked={linked.preset}>
            {props.preset}
          </Row>
        )}
        {props.parameters.map((parameter) => (
          <Row
            key={parameter.name}
            word={parameter.display_name || parameter.name}
            linked={linked.parameter(parameter.name)}
          >
            {inWords(t, parameter, props.values[parameter.name] ?? "") || "–"}
          </Row>
        ))}
      </dl>
      {error ? <ErrorNote error={error} /> : null}
      <div className="form-actions">
        <Button look="primary" busy={busy} onClick={props.onAgree}>
          {busy ? t.create.submitting : t.create.submit}
        </Button>
        <Button onClick={props.onReview}>{t.create.review}</Button>
        <ButtonLink to="/workspaces" look="quiet" text={t.create.refuse} />
      </div>
    </section>
  );
}
