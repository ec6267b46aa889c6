import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ApiError } from "@/api/errors";
import { en } from "@/i18n/en";
import { fr } from "@/i18n/fr";
import { fieldError, fieldText } from "./fieldError";

test("what the server says about names is said in the reader's language", () => {
  for (const [field, said, english, french] of [
    [
      "username",
      "This value is already in use and should be unique.",
      en.errors.fields.usernameTaken,
      "Ce nom d’utilisateur est déjà pris.",
    ],
    [
      "name",
      "This value is already in use and should be unique.",
      en.errors.fields.nameTaken,
      "Ce nom est déjà pris.",
    ],
    ["name", "must be at most 32 characters long", "At most 32 characters.", "32 caractères au plus."],
    [
      "name",
      "must be letters and digits, with single hyphens between them",
      en.errors.fields.hyphens,
      fr.errors.fields.hyphens,
    ],
    [
      "name",
      "must be letters and digits, with single hyphens, dots or underscores between them",
      en.errors.fields.separators,
      fr.errors.fields.separators,
    ],
    [
      "name",
      'must not be "new", which is reserved',
      en.errors.fields.reserved("new"),
      fr.errors.fields.reserved("new"),
    ],
  ] as const) {
    expect([fieldText(en, field, said), fieldText(fr, field, said)]).toEqual([english, french]);
  }
});

test("the server's words are the ones that are known here", () => {
  const read = (path: string) => readFileSync(new URL(`../../../crates/${path}`, import.meta.url), "utf8");
  const names = read("model/src/names.rs");
  for (const [, words = ""] of names.matchAll(/#\[error\("((?:[^"\\]|\\")*)"\)\]/g)) {
    const said = words
      .replace("{max}", "32")
      .replace("{separators}", "hyphens")
      .replace('\\"{word}\\"', '"new"');
    expect(fieldText(fr, "name", said), said).not.toBe(said);
  }
  expect(read("server/src/app/users.rs")).toContain('"This value is already in use and should be unique."');
  const users = read("server/src/app/users.rs");
  for (const said of [
    "must be an e-mail address",
    "Old password is incorrect.",
    "must differ from the old password",
  ]) {
    expect(users).toContain(`"${said}"`);
    expect(fieldText(fr, "password", said), said).not.toBe(said);
  }
  const passwords = read("model/src/password.rs");
  const errors = [...passwords.matchAll(/#\[error\(\s*"([^"]*)"/g)].map(([, words = ""]) =>
    words.replace("{MAX_LENGTH}", "64"),
  );
  expect(errors).not.toEqual([]);
  for (const said of errors) expect(fieldText(fr, "password", said), said).not.toBe(said);
});

test("what is not known stays as it is, and other fields are not meant", () => {
  const error = new ApiError(400, { message: "", validations: [{ field: "port", detail: "must be odd" }] });
  expect(fieldError(en, error, "port")).toBe("must be odd");
  expect(fieldError(en, error, "name")).toBeUndefined();
  expect(fieldError(en, new Error("port"), "port")).toBeUndefined();
});
