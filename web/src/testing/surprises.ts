/** What goes wrong beside what a test looks at: requests without an answer, and lines on the console. */

let found: string[] = [];
let announced: RegExp[] = [];

/** A test says before which lines there will be; they must come. */
export function announce(...lines: RegExp[]) {
  announced.push(...lines);
}

export const surprises = {
  note(line: string) {
    found.push(line);
  },
  /** What nobody announced, and what was announced and did not come; then all is forgotten. */
  take(): string[] {
    const missing = announced.filter((line) => !found.some((each) => line.test(each)));
    const rest = found.filter((each) => !announced.some((line) => line.test(each)));
    found = [];
    announced = [];
    return [...rest, ...missing.map((line) => `did not come: ${line}`)];
  },
};
