/** The name under which an agent keeps this tab's terminal, so that a reload finds it again. */

function newId(): string {
  // randomUUID exists on HTTPS and localhost only, and deployments may be on plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function terminalId(agent: string): string {
  const key = `coder.terminal.${agent}`;
  try {
    const id = sessionStorage.getItem(key) ?? newId();
    sessionStorage.setItem(key, id);
    return id;
  } catch {
    return newId();
  }
}
