/** The form for a new user. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { organizationsQuery } from "@/api/adminQueries";
import { users } from "@/api/endpoints";
import { ApiError, isStatus } from "@/api/errors";
import { authMethodsQuery } from "@/api/queries";
import type { LoginType, User } from "@/api/types";
import { useAdminI18n } from "@/i18n/admin";
import { fieldError } from "@/lib/fieldError";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { Check, Field, Select } from "@/ui/Field";
import { ErrorNote } from "@/ui/Notes";
import { newPassword, PasswordField } from "./PasswordField";

/** Fields whose errors are shown beside them. */
const FIELDS = new Set(["username", "name", "email", "password", "organization_ids"]);

type Offered = Exclude<LoginType, "" | "token">;

export function CreateUser(props: {
  onClose: () => void;
  onCreated: (user: User, password: string) => void;
}) {
  const { t } = useAdminI18n();
  const client = useQueryClient();
  const methods = useQuery(authMethodsQuery);
  const organizations = useQuery(organizationsQuery);
  const [form, setForm] = useState({ username: "", name: "", email: "" });
  const [login, setLogin] = useState<Offered>("password");
  const [password, setPassword] = useState(newPassword);
  const [chosen, setChosen] = useState<string[]>();
  const all = organizations.data ?? [];
  const organizationIds =
    chosen ?? all.filter((each) => each.is_default || all.length === 1).map((each) => each.id);
  const create = useMutation({
    mutationFn: () =>
      users.create({
        ...form,
        login_type: login,
        ...(login === "password" ? password : {}),
        organization_ids: organizationIds,
      }),
    onSuccess: async (user) => {
      await client.invalidateQueries({ queryKey: ["users"] });
      void client.invalidateQueries({ queryKey: ["members"] });
      props.onCreated(user, login === "password" ? password.password : "");
    },
  });
  const error = create.error instanceof ApiError ? create.error : undefined;
  // An error that stands at its field is not said twice.
  const elsewhere = create.error && !error?.validations.every(({ field }) => FIELDS.has(field));
  const general = create.error && (elsewhere || error?.validations.length === 0);
  const field = (name: keyof typeof form) => ({
    label: t.admin.users.form[name],
    value: form[name],
    error: fieldError(t, error, name),
    onChange: (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value }),
    autoComplete: "off",
    spellCheck: false,
  });
  const logins: [Offered, string][] = [["password", t.admin.users.login.password]];
  if (methods.data?.github.enabled) logins.push(["github", t.admin.users.login.github]);
  if (methods.data?.oidc.enabled) logins.push(["oidc", t.admin.users.login.oidc]);
  logins.push(["none", t.admin.users.login.none]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!create.isPending) create.mutate();
  };
  return (
    <Dialog title={t.admin.users.create} lead={t.admin.users.form.lead} open onClose={props.onClose}>
      <form className="dialog-form" onSubmit={submit}>
        <Field
          {...field("username")}
          hint={t.admin.users.form.usernameHint}
          autoCapitalize="none"
          required
          autoFocus
        />
        <Field {...field("name")} optional />
        <Field {...field("email")} type="email" required />
        <Select
          label={t.admin.users.form.login}
          value={login}
          options={logins}
          onPick={setLogin}
          hint={login === "none" ? t.admin.users.form.noneHint : undefined}
        />
        {login === "password" && (
          <PasswordField value={password} onValue={setPassword} error={fieldError(t, error, "password")} />
        )}
        {all.length > 1 && (
          <fieldset className="role-list plain">
            <legend>{t.admin.users.form.organizations}</legend>
            {all.map((each) => (
              <Check
                key={each.id}
                label={each.display_name || each.name}
                checked={organizationIds.includes(each.id)}
                onChange={(on) =>
                  setChosen(
                    on ? [...organizationIds, each.id] : organizationIds.filter((id) => id !== each.id),
                  )
                }
              />
            ))}
          </fieldset>
        )}
        {fieldError(t, error, "organization_ids") && (
          <p className="field-error" role="alert">
            {t.admin.users.form.organizationsMissing}
          </p>
        )}
        {organizations.error && <ErrorNote error={organizations.error} />}
        {general ? (
          <ErrorNote
            error={create.error}
            title={isStatus(create.error, 409) ? t.admin.users.form.taken : undefined}
          />
        ) : null}
        <div className="dialog-actions">
          <Button onClick={props.onClose}>{t.common.cancel}</Button>
          <Button type="submit" look="primary" busy={create.isPending || organizations.isPending}>
            {t.admin.users.form.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
