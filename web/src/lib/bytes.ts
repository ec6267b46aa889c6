/** Amounts of bytes in words. */

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** "284 bytes", "1.2 MB", by the platform's rules for the language. */
export function bytes(language: string, amount: number): string {
  let [value, unit] = [amount, 0];
  // What would be rounded to a thousand is one of the next unit.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: UNITS[unit] ?? "byte",
    // The short form of a byte has no plural.
    unitDisplay: unit === 0 ? "long" : "short",
    maximumFractionDigits: unit === 0 ? 0 : 1,
  }).format(value);
}
