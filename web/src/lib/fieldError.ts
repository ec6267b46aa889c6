/** What the server says about a field, in the words of the reader's language where the UI knows what it means. */

import { ApiError } from "@/api/errors";
import type { Catalogue } from "@/i18n/en";

const TAKEN = "This value is already in use";

/** One thing that the server says about the value of a field; what is not known here stays as it is. */
export function fieldText(t: Catalogue, field: string, said: string): string {
  const words = t.errors.fields;
  if (said.startsWith(TAKEN)) return field === "username" ? words.usernameTaken : words.nameTaken;
  if (said === "must not be empty") return words.empty;
  if (said === "must not start or end with a space") return words.spaces;
  if (said === "must be an e-mail address") return words.email;
  if (said === "Old password is incorrect.") return words.oldPassword;
  if (said === "must differ from the old password") return words.samePassword;
  if (said.startsWith("insecure password")) return t.setup.passwordWeak;
  const [, most] = /must be (?:at most|no more than) (\d+) characters( long)?$/.exec(said) ?? [];
  if (most) return words.tooLong(Number(most));
  const [, separators] = /^must be letters and digits, with single (.+) between them$/.exec(said) ?? [];
  if (separators) return separators === "hyphens" ? words.hyphens : words.separators;
  const [, reserved] = /^must not be "(.+)", which is reserved$/.exec(said) ?? [];
  return reserved ? words.reserved(reserved) : said;
}

/** What a failed request says about a field, if anything. */
export function fieldError(t: Catalogue, error: unknown, field: string): string | undefined {
  const said = error instanceof ApiError ? error.field(field) : undefined;
  return said === undefined ? undefined : fieldText(t, field, said);
}
