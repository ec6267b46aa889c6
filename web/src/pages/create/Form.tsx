/** The form of a new workspace. What the server would refuse is said at the fields before anything is sent. */

import { type FormEvent, useRef, useState } from "react";
import { ApiError } from "@/api/errors";
import type { Preset, TemplateParameter, TemplateVersion } from "@/api/types";
import { useT } from "@/i18n";
import { fieldError } from "@/lib/fieldError";
import { checkValue, controlOf, isName, type Origin, type Values } from "@/lib/parameters";
import { Button } from "@/ui/Button";
import { Field, Select } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { OwnerField } from "./OwnerField";
import { ParameterField } from "./ParameterField";
import { problemText } from "./problems";

export interface Draft {
  name: string;
  owner: string;
  preset: Preset | undefined;
}

interface Props {
  draft: Draft;
  parameters: readonly TemplateParameter[];
  values: Values;
  /** Values that the chosen preset sets. */
  locked: Values;
  origins: Record<string, Origin>;
  presets: readonly Preset[];
  /** Versions to choose from, newest first; empty for those who get the active one. */
  versions: readonly TemplateVersion[];
  version: string;
  activeVersion: string;
  /** Whether the owner can be chosen. */
  forOthers: boolean;
  busy: boolean;
  error: unknown;
  onDraft: (change: Partial<Draft>) => void;
  onValue: (name: string, value: string) => void;
  onVersion: (version: string) => void;
  onSubmit: () => void;
}

/** No preset, in a list of names. */
const NONE = "";

export function Form(props: Props) {
  const t = useT();
  const { draft, parameters, values, locked, origins, presets, versions, onDraft } = props;
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const error = props.error instanceof ApiError ? props.error : undefined;
  const known = new Set(["name", ...parameters.map((parameter) => parameter.name)]);
  const elsewhere = props.error && !error?.validations.some((validation) => known.has(validation.field));

  const problems = parameters.flatMap((parameter) => {
    const problem = problemText(t, checkValue(parameter, values[parameter.name] ?? ""));
    return problem && locked[parameter.name] === undefined ? [[parameter.name, problem] as const] : [];
  });
  const problemOf = new Map(problems);
  const badName = isName(draft.name.trim()) ? undefined : t.create.badName;
  const noOwner = props.forOthers && draft.owner.trim() === "" ? t.create.problems.missing : undefined;
  const broken = parameters.some((parameter) => controlOf(parameter) === "error");

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (badName || noOwner || problems.length > 0) {
      // The marks are drawn with the next frame.
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>("[aria-invalid], .field:has(> .field-error) input")?.focus(),
      );
    } else if (!props.busy && !broken) props.onSubmit();
  };

  const preset = draft.preset;
  return (
    <form className="create-form" onSubmit={submit} ref={form} noValidate>
      <Field
        label={t.create.name}
        hint={t.create.nameHint}
        error={fieldError(t, error, "name") ?? (tried ? badName : undefined)}
        value={draft.name}
        onChange={(event) => onDraft({ name: event.target.value })}
        onFocus={(event) => event.target.select()}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        aria-required
        maxLength={32}
      />
      {props.forOthers && (
        <OwnerField
          value={draft.owner}
          error={tried ? noOwner : undefined}
          onChange={(owner) => onDraft({ owner })}
        />
      )}
      {versions.length > 1 && (
        <Select
          label={t.create.version}
          value={props.version}
          options={versions.map(
            (version) =>
              [
                version.id,
                version.id === props.activeVersion ? t.create.activeVersion(version.name) : version.name,
              ] as const,
          )}
          onPick={props.onVersion}
        />
      )}
      {presets.length > 0 && (
        <Select
          label={t.create.preset}
          hint={t.create.presetHint}
          value={preset?.ID ?? NONE}
          options={[
            [NONE, t.create.noPreset] as const,
            ...presets.map((each) => [each.ID, each.Name] as const),
          ]}
          onPick={(id) => onDraft({ preset: presets.find((each) => each.ID === id) })}
        />
      )}
      {parameters.map((parameter) => {
        const { name } = parameter;
        const origin = origins[name];
        const isLocked = locked[name] !== undefined;
        return (
          <ParameterField
            key={name}
            parameter={parameter}
            value={values[name] ?? ""}
            locked={isLocked}
            mark={
              isLocked && preset
                ? t.create.fromPreset(preset.Name)
                : origin
                  ? t.create.origins[origin]
                  : undefined
            }
            error={fieldError(t, error, name) ?? (tried ? problemOf.get(name) : undefined)}
            onChange={(value) => props.onValue(name, value)}
          />
        );
      })}
      {elsewhere ? <ErrorNote error={props.error} /> : null}
      <Button
        type="submit"
        look="primary"
        busy={props.busy}
        why={broken ? t.create.parameterError : undefined}
      >
        {props.busy ? t.create.submitting : t.create.submit}
      </Button>
    </form>
  );
}
