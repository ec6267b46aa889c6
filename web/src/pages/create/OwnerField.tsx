/** Whose the workspace will be, for those who may make workspaces for others. */

import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId } from "react";
import { peopleQuery } from "@/api/templateQueries";
import { useT } from "@/i18n";
import { Field } from "@/ui/Field";

interface Props {
  value: string;
  error: string | undefined;
  onChange: (owner: string) => void;
}

export function OwnerField({ value, error, onChange }: Props) {
  const t = useT();
  const list = useId();
  // Words with a colon would be keys of the search, and names have none.
  const { data } = useQuery(peopleQuery(useDeferredValue(value).replaceAll(/[^\w.@-]/g, "")));
  return (
    <>
      <Field
        label={t.create.owner}
        hint={t.create.ownerHint}
        error={error}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        list={list}
        autoComplete="off"
        spellCheck={false}
        aria-required
      />
      <datalist id={list}>
        {data?.users.map((user) => (
          <option key={user.id} value={user.username}>
            {user.name || user.email}
          </option>
        ))}
      </datalist>
    </>
  );
}
