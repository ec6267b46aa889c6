/** Reads and writes tar archives, the form in which the server keeps the files of templates. */

const BLOCK = 512;
/** The longest name, and the longest folder before it, that the plain format has room for, in bytes. */
const NAME_ROOM = 100;
const PREFIX_ROOM = 155;

/** What stands in an archive under one name. */
export interface Entry {
  path: string;
  kind: "file" | "directory" | "link";
  data: Uint8Array;
  /** Unix permissions. */
  mode: number;
  /** Where a link leads. */
  target?: string;
}

/** The bytes are no archive, or are cut off. */
export class BadArchive extends Error {
  override name = "BadArchive";
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Text up to the first zero byte. */
function textAt(block: Uint8Array, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return decoder.decode(end < 0 ? field : field.subarray(0, end));
}

/** Octal digits, or, where those have no room, a binary number with its highest bit set. */
function numberAt(block: Uint8Array, from: number, length: number): number {
  const first = block[from] ?? 0;
  if (first & 0x80) {
    let value = first & 0x7f;
    for (let at = 1; at < length; at += 1) value = value * 256 + (block[from + at] ?? 0);
    return value;
  }
  const digits = textAt(block, from, length).trim();
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

/** The sum that protects a header, its own field counted as spaces. */
function checksum(header: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0);
  return sum;
}

/** Records of an extended header: "length key=value\n", the length counting all of it. */
function extended(data: Uint8Array): Record<string, string> {
  const found: Record<string, string> = {};
  let at = 0;
  while (at < data.length) {
    const space = data.indexOf(32, at);
    const length = space < 0 ? 0 : Number.parseInt(decoder.decode(data.subarray(at, space)), 10);
    if (!(length > space - at)) break;
    const record = decoder.decode(data.subarray(space + 1, at + length - 1));
    const equals = record.indexOf("=");
    if (equals > 0) found[record.slice(0, equals)] = record.slice(equals + 1);
    at += length;
  }
  return found;
}

/** "./a//b/" is "a/b"; an empty text is the archive's own folder. */
const tidy = (path: string) =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");

/**
 * The entries in their order. What is neither a file, a folder nor a symbolic link is left out; of two entries with one
 * name the later counts, as when they are unpacked.
 */
export function readTar(bytes: Uint8Array): Entry[] {
  const entries = new Map<string, Entry>();
  let next: { path?: string | undefined; target?: string | undefined; size?: number } = {};
  let at = 0;
  while (at + BLOCK <= bytes.length) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    if (numberAt(header, 148, 8) !== checksum(header)) throw new BadArchive("a header is damaged");
    const type = String.fromCharCode(header[156] ?? 0);
    const special = "xgLK".includes(type) && type !== "\0";
    const size = special ? numberAt(header, 124, 12) : (next.size ?? numberAt(header, 124, 12));
    const from = at + BLOCK;
    if (!(size >= 0) || from + size > bytes.length) throw new BadArchive("the archive is cut off");
    const data = bytes.subarray(from, from + size);
    at = from + Math.ceil(size / BLOCK) * BLOCK;

    if (type === "x") {
      const records = extended(data);
      if (records.path !== undefined) next.path = records.path;
      if (records.linkpath !== undefined) next.target = records.linkpath;
      if (records.size !== undefined) next.size = Number(records.size);
      continue;
    }
    if (type === "L" || type === "K") {
      const text = textAt(data, 0, data.length);
      if (type === "L") next.path = text;
      else next.target = text;
      continue;
    }
    if (type === "g") continue;

    const prefix = textAt(header, 257, 5) === "ustar" && header[262] === 0 ? textAt(header, 345, 155) : "";
    const name = textAt(header, 0, NAME_ROOM);
    const raw = next.path ?? (prefix ? `${prefix}/${name}` : name);
    const target = next.target ?? textAt(header, 157, NAME_ROOM);
    next = {};
    const path = tidy(raw);
    if (path === "") continue;
    const mode = numberAt(header, 100, 8) & 0o777;
    entries.delete(path);
    if (type === "5" || (raw.endsWith("/") && (type === "0" || type === "\0"))) {
      entries.set(path, { path, kind: "directory", data: new Uint8Array(), mode });
    } else if (type === "2") {
      entries.set(path, { path, kind: "link", data: new Uint8Array(), mode, target });
    } else if (type === "0" || type === "\0" || type === "7") {
      entries.set(path, { path, kind: "file", data, mode });
    }
  }
  return [...entries.values()];
}

const TYPES: Record<Entry["kind"], string> = { file: "0", link: "2", directory: "5" };

function headerOf(
  name: Uint8Array,
  prefix: Uint8Array,
  type: string,
  size: number,
  mode: number,
): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (text: string, from: number) => header.set(encoder.encode(text), from);
  const octal = (value: number, from: number, length: number) =>
    put(`${value.toString(8).padStart(length - 1, "0")}\0`, from);
  header.set(name.subarray(0, NAME_ROOM), 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  // No time: the same files are the same bytes, which the server keeps once.
  octal(0, 136, 12);
  put(type, 156);
  put("ustar\u000000", 257);
  header.set(prefix, 345);
  put(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** Where a path can be cut so that both parts have room; `undefined` when it cannot. */
function parted(path: string): [name: Uint8Array, prefix: Uint8Array] | undefined {
  const whole = encoder.encode(path);
  if (whole.length <= NAME_ROOM) return [whole, new Uint8Array()];
  for (let cut = path.indexOf("/"); cut >= 0; cut = path.indexOf("/", cut + 1)) {
    const [prefix, name] = [encoder.encode(path.slice(0, cut)), encoder.encode(path.slice(cut + 1))];
    if (prefix.length > PREFIX_ROOM) return undefined;
    if (name.length > 0 && name.length <= NAME_ROOM) return [name, prefix];
  }
  return undefined;
}

function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = encoder.encode(rest).length;
  let total = length;
  while (String(total).length + length !== total) total = String(total).length + length;
  return `${total}${rest}`;
}

/** An archive with these entries. */
export function writeTar(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const blocks: Uint8Array[] = [];
  const body = (data: Uint8Array) => {
    blocks.push(data);
    if (data.length % BLOCK) blocks.push(new Uint8Array(BLOCK - (data.length % BLOCK)));
  };
  for (const entry of entries) {
    const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
    const place = parted(path);
    const target = encoder.encode(entry.target ?? "");
    let records = "";
    if (!place) records += record("path", path);
    if (target.length > NAME_ROOM) records += record("linkpath", entry.target ?? "");
    if (records) {
      const data = encoder.encode(records);
      blocks.push(headerOf(encoder.encode("extended"), new Uint8Array(), "x", data.length, 0o644));
      body(data);
    }
    const [name, prefix] = place ?? [encoder.encode(path).subarray(0, NAME_ROOM), new Uint8Array()];
    const data = entry.kind === "file" ? entry.data : new Uint8Array();
    const header = headerOf(name, prefix, TYPES[entry.kind], data.length, entry.mode);
    if (target.length > 0) {
      header.set(target.subarray(0, NAME_ROOM), 157);
      header.set(encoder.encode(`${checksum(header).toString(8).padStart(6, "0")}\0 `), 148);
    }
    blocks.push(header);
    body(data);
  }
  blocks.push(new Uint8Array(2 * BLOCK));
  const all = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
