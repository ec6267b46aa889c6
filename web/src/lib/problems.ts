/** What an import complains of, and where: read from its log, as `crates/provisioner/src/diagnostic.rs` writes it. */

import { plainText } from "./ansi";

export interface Problem {
  message: string;
  /** What follows the message: the cause, and what one could have meant. */
  detail: string;
  file?: string;
  line?: number;
}

interface Line {
  level: string;
  text: string;
  heading?: boolean;
}

/** "main.tf:3:7: what is wrong". */
const PREFIXED = /^([^\s:][^:]*\.tf(?:\.json)?):(\d+)(?::\d+)?: (.*)$/;
/** Terraform's own errors begin like this, … */
const TERRAFORM = /^[\s│╷]*Error: (.*)$/;
/** … say where, … */
const PLACE = /^[\s│]*on (.+) line (\d+)(?:, in .*)?:?$/;
/** … and repeat the line of the file. */
const SNIPPET = /^[\s│]*\d+:/;
/** "Unsupported argument (main.tf:8): …", as errors stand in one line. */
const IN_BRACKETS = /^(.*?) \(([^()\s]+):(\d+)\)(?:: (.*))?$/;

/** All problems in their order. What the log does not say, the job's error does. */
export function problemsOf(lines: readonly Line[], error: string): Problem[] {
  const found: Problem[] = [];
  let open: Problem | undefined;
  for (const line of lines) {
    if (line.level !== "error" || line.heading) {
      open = undefined;
      continue;
    }
    const text = plainText(line.text);
    const [terraform, prefixed, place] = [TERRAFORM.exec(text), PREFIXED.exec(text), PLACE.exec(text)];
    if (terraform) {
      open = { message: terraform[1] ?? "", detail: "" };
      found.push(open);
    } else if (prefixed) {
      open = undefined;
      found.push({
        message: prefixed[3] ?? "",
        detail: "",
        file: prefixed[1] ?? "",
        line: Number(prefixed[2]),
      });
    } else if (open && place && open.file === undefined) {
      open.file = place[1] ?? "";
      open.line = Number(place[2]);
    } else if (open && !SNIPPET.test(text)) {
      const more = text.replace(/^[\s│╵]+/, "");
      if (more) open.detail = open.detail ? `${open.detail} ${more}` : more;
    }
  }
  if (found.length > 0 || error === "") return found;
  const bare = error.replace(/^terraform \w+: |^the template cannot be read: /, "");
  const [prefixed, bracketed] = [PREFIXED.exec(bare), IN_BRACKETS.exec(bare)];
  if (prefixed) {
    return [{ message: prefixed[3] ?? "", detail: "", file: prefixed[1] ?? "", line: Number(prefixed[2]) }];
  }
  if (bracketed) {
    const [, message = "", file = "", line, detail = ""] = bracketed;
    return [{ message, detail, file, line: Number(line) }];
  }
  return [{ message: error, detail: "" }];
}
