import { beforeAll, expect, test, vi } from "vitest";

beforeAll(() => {
  vi.stubGlobal("window", { matchMedia: () => ({ matches: false, addEventListener: () => undefined }) });
});

test("an account's theme is understood, also the variants that stock has", async () => {
  const { themeFromAccount, themeToAccount } = await import("./theme");
  expect(themeFromAccount("")).toBeUndefined();
  expect(themeFromAccount("something else")).toBeUndefined();
  expect(themeFromAccount("light-tritan")).toBe("light");
  expect(themeFromAccount("dark-protan-deuter")).toBe("dark");
  for (const theme of ["system", "light", "dark"] as const) {
    expect(themeFromAccount(themeToAccount(theme))).toBe(theme);
  }
});
