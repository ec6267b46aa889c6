import { expect, test } from "vitest";
import { bytes } from "./bytes";

test("an amount takes the unit that reads best, and its plural", () => {
  for (const [amount, english, french] of [
    [0, "0 bytes", "0 octet"],
    [1, "1 byte", "1 octet"],
    [284, "284 bytes", "284 octets"],
    [999, "999 bytes", "999 octets"],
    [1000, "1 kB", "1 ko"],
    [1_250, "1.3 kB", "1,3 ko"],
    [999_960, "1 MB", "1 Mo"],
    [12_000_000, "12 MB", "12 Mo"],
    [3_400_000_000, "3.4 GB", "3,4 Go"],
    [5e15, "5,000 TB", "5000 To"],
  ] as const) {
    // The space of a language need not be the plain one.
    const plain = (text: string) => text.replaceAll(/\s/g, " ");
    expect([plain(bytes("en", amount)), plain(bytes("fr", amount)).replace("5 000", "5000")]).toEqual([
      english,
      french,
    ]);
  }
});
