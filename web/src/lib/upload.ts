/** What people drop or choose: files, folders and archives, read in the browser as the files of a template. */

import {
  chosen,
  fromTar,
  hasTerraform,
  isLeftOut,
  MOST_BYTES,
  newSource,
  type Source,
  type Sources,
  sizeOf,
  sorted,
} from "./sources";
import { BadArchive } from "./tar";

/** Why it cannot be a template; a key of the catalogue's `editor.uploadProblems`. */
export type UploadProblemKind = "empty" | "tooLarge" | "noTerraform" | "badArchive";

export class UploadProblem extends Error {
  constructor(
    readonly kind: UploadProblemKind,
    message = "",
  ) {
    super(message);
    this.name = "UploadProblem";
  }
}

/** A file with its path within what was chosen. */
export interface Chosen {
  path: string;
  file: File;
}

/** Archives, by their names. */
const ARCHIVE = /\.(zip|tar|tar\.gz|tgz)$/i;

const archiveKind = (name: string) => ARCHIVE.exec(name)?.[1]?.toLowerCase();

/** The name without what tells its kind, for a template's name. */
export const bareName = (name: string) => name.replace(ARCHIVE, "");

/** A name that the server takes, from any text. */
export const templateName = (text: string) =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9]+/g, " ")
    .trim()
    .replace(/ /g, "-")
    .toLowerCase()
    .slice(0, 32)
    .replace(/-+$/, "");

/** From a file chooser; a chosen folder gives each file its path. */
export const fromInput = (files: Iterable<File>): Chosen[] =>
  [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function walk(entry: FileSystemEntry, below: string): Promise<Chosen[]> {
  const path = below + entry.name;
  if (isLeftOut(path)) return [];
  if (entry.isDirectory) {
    const entries = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(entries.map((each) => walk(each, `${path}/`)))).flat();
  }
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [{ path, file }];
}

/** From a drop: files, and folders with all that is in them. */
export async function fromDrop(data: DataTransfer): Promise<Chosen[]> {
  // The list is only there until the event is over, so all of it is read before anything is waited for.
  const found = [...data.items].map((item) => {
    const entry = item.webkitGetAsEntry();
    const file = entry ? null : item.getAsFile();
    return entry ? walk(entry, "") : file ? [{ path: file.name, file }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** All of a stream, if it is not too much: a small archive can hold a lot. */
async function all(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      await reader.cancel();
      throw new UploadProblem("tooLarge");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

/** The tar in an archive. Zips are turned into one by the server. */
async function tarIn(
  file: File,
  kind: string,
  unzip: (zip: Blob) => Promise<Uint8Array>,
  most: number,
): Promise<Uint8Array> {
  if (kind === "zip") return unzip(new Blob([file], { type: "application/zip" }));
  if (kind === "tar") return new Uint8Array(await file.arrayBuffer());
  const stream = file.stream().pipeThrough(new DecompressionStream("gzip"));
  try {
    return await all(stream, most);
  } catch (error) {
    throw error instanceof UploadProblem ? error : new UploadProblem("badArchive", String(error));
  }
}

function checkSize(files: readonly Chosen[]) {
  if (files.reduce((sum, { file }) => sum + file.size, 0) > MOST_BYTES) throw new UploadProblem("tooLarge");
}

/** The files as they are, for the editor. */
export async function readFiles(files: readonly Chosen[]): Promise<Source[]> {
  const wanted = files.filter(({ path }) => !isLeftOut(path));
  checkSize(wanted);
  return Promise.all(
    wanted.map(async ({ path, file }) => {
      const data = new Uint8Array(await file.arrayBuffer());
      // Browsers do not tell what may be run; a script says so itself.
      const script = data[0] === 35 && data[1] === 33;
      return newSource(path, data, script ? 0o755 : 0o644);
    }),
  );
}

/** A template from what was chosen: one archive, or files and folders. */
export async function readTemplate(
  files: readonly Chosen[],
  unzip: (zip: Blob) => Promise<Uint8Array>,
  most = MOST_BYTES,
): Promise<Sources> {
  const [only] = files;
  if (!only) throw new UploadProblem("empty");
  const kind = files.length === 1 ? archiveKind(only.file.name) : undefined;
  let found: Sources;
  if (kind) {
    checkSize(files);
    try {
      found = chosen(fromTar(await tarIn(only.file, kind, unzip, most)));
    } catch (error) {
      throw error instanceof BadArchive ? new UploadProblem("badArchive", error.message) : error;
    }
  } else {
    found = chosen(sorted(await readFiles(files)));
  }
  if (found.size === 0) throw new UploadProblem("empty");
  if (sizeOf(found) > most) throw new UploadProblem("tooLarge");
  if (!hasTerraform(found)) throw new UploadProblem("noTerraform");
  return found;
}
