import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { BadArchive, type Entry, readTar, writeTar } from "./tar";

const scratch = mkdtempSync(join(tmpdir(), "coder-tar-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const bytes = (text: string) => new TextEncoder().encode(text);
const file = (path: string, text = "", mode = 0o644): Entry => ({
  path,
  kind: "file",
  data: bytes(text),
  mode,
});
const inFolders = `${"folder/".repeat(20)}main.tf`;
const long = `${"é".repeat(80)}/${"x".repeat(120)}`;

const ALL: Entry[] = [
  file("main.tf", "# hello\n"),
  file("run.sh", "#!/bin/sh\n", 0o755),
  { path: "empty", kind: "directory", data: new Uint8Array(), mode: 0o755 },
  { path: "link", kind: "link", data: new Uint8Array(), mode: 0o777, target: "main.tf" },
  { path: "far", kind: "link", data: new Uint8Array(), mode: 0o777, target: "y".repeat(150) },
  file(inFolders, "deep"),
  file(long, "long"),
  file("<b>&\"'.tf", "x".repeat(1024)),
];

test("what is written is read again, whatever the names", () => {
  expect(readTar(writeTar(ALL))).toEqual(ALL);
});

test("the same files are the same bytes", () => {
  expect(writeTar(ALL)).toEqual(writeTar(ALL.map((entry) => ({ ...entry }))));
});

test("the system's tar understands what is written", () => {
  const archive = join(scratch, "written.tar");
  writeFileSync(archive, writeTar(ALL));
  const out = join(scratch, "out");
  mkdirSync(out);
  execFileSync("tar", ["-xf", archive, "-C", out]);
  expect(readFileSync(join(out, long), "utf8")).toBe("long");
  expect(readFileSync(join(out, inFolders), "utf8")).toBe("deep");
  expect(readFileSync(join(out, "link"), "utf8")).toBe("# hello\n");
});

test.each(["gnu", "pax", "ustar"])("archives in the %s format are read", (format) => {
  const from = join(scratch, format);
  mkdirSync(join(from, "a".repeat(90), "b".repeat(60)), { recursive: true });
  const name = join("a".repeat(90), "b".repeat(60), "c.tf");
  writeFileSync(join(from, name), "hello");
  writeFileSync(join(from, "run.sh"), "#!/bin/sh", { mode: 0o755 });
  symlinkSync("run.sh", join(from, "link"));
  const archive = join(scratch, `${format}.tar`);
  execFileSync("tar", ["-cf", archive, `--format=${format}`, "-C", from, "."]);
  const entries = readTar(readFileSync(archive));
  const of = (path: string) => entries.find((entry) => entry.path === path);
  expect(new TextDecoder().decode(of(name)?.data)).toBe("hello");
  expect(of("run.sh")?.mode).toBe(0o755);
  expect(of("link")).toMatchObject({ kind: "link", target: "run.sh" });
  expect(entries.some((entry) => entry.path === "" || entry.path === ".")).toBe(false);
});

test("the later of two files with one name counts", () => {
  expect(readTar(writeTar([file("a", "1"), file("b"), file("./a", "2")])).map((entry) => entry.path)).toEqual(
    ["b", "a"],
  );
});

test("what is cut off, damaged or no archive is refused", () => {
  const good = writeTar([file("main.tf", "x".repeat(2000))]);
  expect(() => readTar(good.subarray(0, 1024))).toThrow(BadArchive);
  expect(() => readTar(bytes("x".repeat(1024)))).toThrow(BadArchive);
  const damaged = good.slice();
  damaged[3] = 90;
  expect(() => readTar(damaged)).toThrow(BadArchive);
  expect(readTar(new Uint8Array(1024))).toEqual([]);
});
