/** The files of a template: from an archive and back, as text or as bytes, and which names they may have. */

import { type Entry, readTar, writeTar } from "./tar";

/** One file of a template. */
export interface Source {
  path: string;
  /** Its content when it is text. */
  text: string | undefined;
  /** Its content as it came. A text that was edited has none. */
  data: Uint8Array | undefined;
  mode: number;
  /** Where it leads when it is a symbolic link. */
  target?: string | undefined;
}

/** The files of a template by path, sorted. */
export type Sources = ReadonlyMap<string, Source>;

export const FILE_MODE = 0o644;
/** The server's limit: `MAX_UPLOAD` in `crates/server/src/app/files.rs`. */
export const MOST_BYTES = 100 << 20;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The text, or nothing when the bytes are none. */
export function textOf(data: Uint8Array): string | undefined {
  if (data.subarray(0, 8000).includes(0)) return undefined;
  try {
    return decoder.decode(data);
  } catch {
    return undefined;
  }
}

/** Sorted as in a tree is not needed here: only that the same files always come in the same order. */
export const sorted = (sources: Iterable<Source>): Sources =>
  new Map(
    [...sources]
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
      .map((source) => [source.path, source]),
  );

export function fromEntries(entries: readonly Entry[]): Sources {
  return sorted(
    entries
      .filter((entry) => entry.kind !== "directory")
      .map(({ path, data, mode, kind, target }) => ({
        path,
        data,
        text: kind === "file" ? textOf(data) : undefined,
        mode,
        ...(kind === "link" ? { target: target ?? "" } : {}),
      })),
  );
}

export const fromTar = (bytes: Uint8Array): Sources => fromEntries(readTar(bytes));

/** The content as bytes. */
export const bytesOf = (source: Source): Uint8Array => source.data ?? encoder.encode(source.text ?? "");

export function toTar(sources: Sources): Uint8Array<ArrayBuffer> {
  return writeTar(
    [...sources.values()].map((source) => ({
      path: source.path,
      kind: source.target === undefined ? "file" : "link",
      data: bytesOf(source),
      mode: source.mode,
      ...(source.target === undefined ? {} : { target: source.target }),
    })),
  );
}

/** A new file from bytes. */
export const newSource = (path: string, data: Uint8Array, mode = FILE_MODE): Source => ({
  path,
  data,
  text: textOf(data),
  mode,
});

/** Whether two files hold the same. */
export function same(a: Source | undefined, b: Source | undefined): boolean {
  if (!a || !b) return a === b;
  if (a === b) return true;
  if (a.target !== b.target || a.mode !== b.mode) return false;
  if (a.text !== undefined && b.text !== undefined) return a.text === b.text;
  const [left, right] = [bytesOf(a), bytesOf(b)];
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

/** What the command line leaves out when it packs a folder: `crates/cli/src/templates/pack.rs`. */
export function isLeftOut(path: string): boolean {
  return path
    .split("/")
    .some(
      (part) =>
        (part.startsWith(".") && part !== ".terraform.lock.hcl") ||
        part.endsWith(".tfstate") ||
        part.endsWith(".tfstate.backup") ||
        part === "__MACOSX",
    );
}

const isTerraform = (path: string) => path.endsWith(".tf") || path.endsWith(".tf.json");

/** Whether Terraform would find anything: only files at the top count. */
export const hasTerraform = (sources: Sources): boolean =>
  [...sources.keys()].some((path) => !path.includes("/") && isTerraform(path));

/** Archives often hold one folder with everything in it. That folder is left away when the template is in it. */
export function withoutLoneFolder(sources: Sources): Sources {
  const folders = new Set([...sources.keys()].map((path) => path.split("/")[0] ?? ""));
  const [folder] = folders;
  if (folders.size !== 1 || folder === undefined || sources.has(folder)) return sources;
  const inside = sorted(
    [...sources.values()].map((source) => ({ ...source, path: source.path.slice(folder.length + 1) })),
  );
  return hasTerraform(inside) || !hasTerraform(sources) ? withoutLoneFolder(inside) : sources;
}

/** What one chose to upload: without what does not belong into a template, and without a folder around it. */
export const chosen = (sources: Sources): Sources =>
  withoutLoneFolder(sorted([...sources.values()].filter((source) => !isLeftOut(source.path))));

/** How much the files hold, in bytes. */
export const sizeOf = (sources: Sources): number =>
  [...sources.values()].reduce((sum, source) => sum + bytesOf(source).length, 0);

/** Why a file cannot have a path; a key of the catalogue's `editor.paths`. */
export type PathProblem = "empty" | "outside" | "taken" | "throughFile";

/** Whether a file may be made at `path`, or moved there from `from`. */
export function pathProblem(sources: Sources, path: string, from?: string): PathProblem | undefined {
  const parts = path.split("/");
  if (path.trim() === "" || parts.some((part) => part.trim() === "")) return "empty";
  if (parts.some((part) => part === "." || part === ".." || part.includes("\\") || part.includes("\0"))) {
    return "outside";
  }
  const moved = (other: string) => from !== undefined && (other === from || other.startsWith(`${from}/`));
  for (const other of sources.keys()) {
    if (moved(other)) continue;
    if (other === path || other.startsWith(`${path}/`)) return "taken";
    if (path.startsWith(`${other}/`)) return "throughFile";
  }
  return undefined;
}

/** Moves a file, or a folder with all that is in it. */
export function moved(sources: Sources, from: string, to: string): Sources {
  return sorted(
    [...sources.values()].map((source) =>
      source.path === from || source.path.startsWith(`${from}/`)
        ? { ...source, path: to + source.path.slice(from.length) }
        : source,
    ),
  );
}

/** Takes a file away, or a folder with all that is in it. */
export const without = (sources: Sources, path: string): Sources =>
  sorted(
    [...sources.values()].filter((source) => source.path !== path && !source.path.startsWith(`${path}/`)),
  );

/** Adds files, in place of those that have their paths. */
export const withAll = (sources: Sources, added: Iterable<Source>): Sources =>
  sorted([...new Map([...sources, ...[...added].map((source) => [source.path, source] as const)]).values()]);

/** One line of a tree. */
export interface Branch {
  name: string;
  path: string;
  /** For a folder. */
  children?: Branch[];
}

/** Folders first, then by name as people sort. */
export function treeOf(paths: Iterable<string>): Branch[] {
  const top: Branch[] = [];
  const folders = new Map<string, Branch[]>([["", top]]);
  const folder = (path: string): Branch[] => {
    const known = folders.get(path);
    if (known) return known;
    const cut = path.lastIndexOf("/");
    const children: Branch[] = [];
    folders.set(path, children);
    folder(cut < 0 ? "" : path.slice(0, cut)).push({ name: path.slice(cut + 1), path, children });
    return children;
  };
  for (const path of paths) {
    const cut = path.lastIndexOf("/");
    folder(cut < 0 ? "" : path.slice(0, cut)).push({ name: path.slice(cut + 1), path });
  }
  const collator = new Intl.Collator(undefined, { numeric: true });
  for (const children of folders.values()) {
    children.sort(
      (a, b) =>
        Number(b.children !== undefined) - Number(a.children !== undefined) ||
        collator.compare(a.name, b.name),
    );
  }
  return top;
}

/** The file that is shown first: the one that most templates begin with, else the first that there is. */
export function firstFile(sources: Sources): string | undefined {
  const paths = [...sources.keys()];
  return (
    paths.find((path) => path === "main.tf") ??
    paths.find((path) => !path.includes("/") && isTerraform(path)) ??
    paths.find((path) => sources.get(path)?.text !== undefined) ??
    paths[0]
  );
}

/** The first of some files that has no place: where a folder is, or below a file. */
export function clashOf(sources: Sources, added: readonly Source[]): string | undefined {
  const paths = [...new Set([...sources.keys(), ...added.map((source) => source.path)])];
  return added
    .map((source) => source.path)
    .find((path) => paths.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)));
}
