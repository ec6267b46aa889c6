/** Makes the "Open in Coder" button: a link that prefills the form of a new workspace, as Markdown, HTML or plain. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { templateParametersQuery } from "@/api/queries";
import type { Template, TemplateParameter } from "@/api/types";
import { useT } from "@/i18n";
import { openLink } from "@/lib/address";
import { embedHtml, embedMarkdown } from "@/lib/embed";
import { checkValue, startValues, type Values } from "@/lib/parameters";
import { CopyButton } from "@/ui/CopyButton";
import { Check, Field } from "@/ui/Field";
import { ErrorNote, Skeleton } from "@/ui/Notes";
import { ParameterField } from "../create/ParameterField";
import { problemText } from "../create/problems";
import { Part } from "./Part";
import { useTemplate } from "./useTemplate";

const BUTTON = "/open-in-coder.svg";
/** A value that is set begins as in the form. */
const NOTHING = { search: {}, used: [] };

function Output({ label, text }: { label: string; text: string }) {
  const t = useT();
  return (
    <div className="embed-output">
      <div className="embed-output-head">
        <h3>{label}</h3>
        <CopyButton text={() => text} label={`${t.common.copy}: ${label}`} />
      </div>
      <pre>
        <code>{text}</code>
      </pre>
    </div>
  );
}

function Generator({ template, parameters }: { template: Template; parameters: TemplateParameter[] }) {
  const t = useT();
  const words = t.template.embed;
  const [name, setName] = useState("");
  const [auto, setAuto] = useState(false);
  const [values, setValues] = useState<Values>({});
  const { origin } = window.location;
  const link = openLink({ origin, template: template.name, name: name.trim(), values, auto });
  const image = `${origin}${BUTTON}`;
  return (
    <div className="embed">
      <div className="form">
        <Field
          label={words.name}
          hint={words.nameHint}
          optional
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoComplete="off"
          spellCheck={false}
          maxLength={32}
        />
        <Check label={words.auto} hint={words.autoHint} checked={auto} onChange={setAuto} />
        {parameters.length > 0 && <h3>{t.create.parameters}</h3>}
        {parameters.map((parameter) => {
          const value = values[parameter.name];
          const title = parameter.display_name || parameter.name;
          return (
            <div key={parameter.name} className="embed-parameter">
              <Check
                label={words.set(title)}
                checked={value !== undefined}
                onChange={(on) =>
                  setValues(({ [parameter.name]: _, ...rest }) =>
                    on ? { ...rest, ...startValues([parameter], NOTHING).values } : rest,
                  )
                }
              />
              {value !== undefined && (
                <ParameterField
                  parameter={parameter}
                  value={value}
                  error={problemText(t, checkValue(parameter, value))}
                  onChange={(next) => setValues((old) => ({ ...old, [parameter.name]: next }))}
                />
              )}
            </div>
          );
        })}
      </div>
      <div className="embed-outputs">
        <p className="embed-preview">
          <a href={link} target="_blank" rel="noopener noreferrer">
            <img src={BUTTON} alt={words.alt} width={157} height={32} />
          </a>
          <span className="muted small">{words.preview}</span>
        </p>
        <Output label={words.markdown} text={embedMarkdown(link, image, words.alt)} />
        <Output label={words.html} text={embedHtml(link, image, words.alt)} />
        <Output label={words.link} text={link} />
      </div>
    </div>
  );
}

export function Embed() {
  const t = useT();
  const template = useTemplate();
  const { data, error, refetch } = useQuery(templateParametersQuery(template.active_version_id));
  return (
    <Part template={template} title={t.template.pages.embed} lead={t.template.embed.lead}>
      {data ? (
        <Generator template={template} parameters={data} />
      ) : error ? (
        <ErrorNote error={error} next={t.create.notReady} onRetry={() => void refetch()} />
      ) : (
        <Skeleton rows={5} />
      )}
    </Part>
  );
}
