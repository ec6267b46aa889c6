import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { newSource, sorted, toTar } from "./sources";
import { bareName, type Chosen, fromInput, readFiles, readTemplate, templateName } from "./upload";

const bytes = (text: string) => new TextEncoder().encode(text);
const file = (path: string, content: string | Uint8Array<ArrayBuffer> = "x"): Chosen => ({
  path,
  file: new File([content], path.slice(path.lastIndexOf("/") + 1)),
});
const noZip = () => Promise.reject(new Error("no zip here"));
const tar = toTar(sorted([newSource("repo/main.tf", bytes("a")), newSource("repo/.git/x", bytes("b"))]));
const names = async (...files: Chosen[]) => [...(await readTemplate(files, noZip)).keys()];

test("archives and folders are read alike", async () => {
  expect(await names(file("t.tar", tar))).toEqual(["main.tf"]);
  expect(await names(file("t.tar.gz", new Uint8Array(gzipSync(tar))))).toEqual(["main.tf"]);
  expect(await names(file("repo/main.tf"), file("repo/scripts/a.sh"), file("repo/.env"))).toEqual([
    "main.tf",
    "scripts/a.sh",
  ]);
  const zip = await readTemplate([file("t.zip", "PK")], async (blob) => {
    expect(blob.type).toBe("application/zip");
    return tar;
  });
  expect([...zip.keys()]).toEqual(["main.tf"]);
});

test("what is no template is refused with its reason", async () => {
  const reason = (...files: Chosen[]) => expect(readTemplate(files, noZip)).rejects;
  await reason().toMatchObject({ kind: "empty" });
  await reason(file(".git/config")).toMatchObject({ kind: "empty" });
  await reason(file("README.md")).toMatchObject({ kind: "noTerraform" });
  await reason(file("t.tar", "no tar at all".repeat(100))).toMatchObject({ kind: "badArchive" });
  await reason(file("t.tgz", "no gzip")).toMatchObject({ kind: "badArchive" });
  const bomb = file("t.tgz", new Uint8Array(gzipSync(new Uint8Array(3 << 20))));
  await expect(readTemplate([bomb], noZip, 1 << 20)).rejects.toMatchObject({ kind: "tooLarge" });
});

test("scripts may be run", async () => {
  const [script, text] = await readFiles([file("a.sh", "#!/bin/sh"), file("b", "b")]);
  expect([script?.mode, text?.mode]).toEqual([0o755, 0o644]);
  expect(fromInput([new File([], "x")])[0]?.path).toBe("x");
});

test("a name for the template is proposed", () => {
  expect(templateName(bareName("Été 2024_(v1).tar.gz"))).toBe("ete-2024-v1");
  expect(templateName(`${"x".repeat(31)}-y`)).toBe("x".repeat(31));
  expect(templateName("§§")).toBe("");
});
