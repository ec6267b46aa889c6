/** Passwords that nobody has to think of. */

/** Without letters and digits that look like others. */
const ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 20;

/** A password of 20 characters with 116 bits of chance, in groups of five that can be read out. */
export function generatePassword(): string {
  // Bytes past the last multiple of the alphabet would make its first letters likelier.
  const limit = 256 - (256 % ALPHABET.length);
  let password = "";
  while (password.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < limit && password.length < LENGTH) password += ALPHABET[byte % ALPHABET.length];
    }
  }
  return (password.match(/.{5}/g) ?? []).join("-");
}
