import { expect, test } from "vitest";
import {
  bytesOf,
  chosen,
  clashOf,
  firstFile,
  fromTar,
  isLeftOut,
  moved,
  newSource,
  pathProblem,
  type Source,
  same,
  sorted,
  textOf,
  toTar,
  treeOf,
  withAll,
  without,
} from "./sources";

const bytes = (text: string) => new TextEncoder().encode(text);
const files = (...paths: string[]) => sorted(paths.map((path) => newSource(path, bytes(path))));
const names = (sources: ReadonlyMap<string, Source>) => [...sources.keys()];

test("text is told from bytes, and bytes stay as they are", () => {
  expect(textOf(bytes("é\n"))).toBe("é\n");
  expect(textOf(new Uint8Array([0xff, 0xfe, 65]))).toBeUndefined();
  expect(textOf(new Uint8Array([65, 0, 66]))).toBeUndefined();
  const binary = new Uint8Array([0, 1, 2, 255]);
  const again = fromTar(toTar(sorted([newSource("logo.png", binary, 0o600)])));
  expect(again.get("logo.png")).toMatchObject({ text: undefined, mode: 0o600 });
  expect(bytesOf(again.get("logo.png") as Source)).toEqual(binary);
});

test("an edited text is what is packed", () => {
  const [old] = [newSource("main.tf", bytes("a"))];
  const edited: Source = { ...(old as Source), text: "b", data: undefined };
  expect(fromTar(toTar(sorted([edited]))).get("main.tf")?.text).toBe("b");
  expect(same(old, edited)).toBe(false);
  expect(same(old, { ...edited, text: "a" })).toBe(true);
  expect(same(old, { ...(old as Source), mode: 0o755 })).toBe(false);
});

test("a byte-order mark is kept", () => {
  const marked = new Uint8Array([0xef, 0xbb, 0xbf, 65]);
  const source = newSource("main.tf", marked);
  expect(bytesOf({ ...source, data: undefined })).toEqual(marked);
});

test("a lone folder is left away, and what does not belong into a template", () => {
  expect(names(chosen(files("repo-1/main.tf", "repo-1/modules/a/main.tf", "repo-1/.git/config")))).toEqual([
    "main.tf",
    "modules/a/main.tf",
  ]);
  expect(names(chosen(files("main.tf", "x/y.tf")))).toEqual(["main.tf", "x/y.tf"]);
  expect(names(chosen(files("a/b/main.tf")))).toEqual(["main.tf"]);
  expect(names(chosen(files("readme")))).toEqual(["readme"]);
  expect([".terraform.lock.hcl", "a/.terraform/x", "t.tfstate", "a/t.tfstate.backup"].map(isLeftOut)).toEqual(
    [false, true, true, true],
  );
});

test("paths are checked before a file gets one", () => {
  const there = files("main.tf", "scripts/run.sh");
  expect(pathProblem(there, "new.tf")).toBeUndefined();
  expect(pathProblem(there, "main.tf")).toBe("taken");
  expect(pathProblem(there, "scripts")).toBe("taken");
  expect(pathProblem(there, "main.tf/x")).toBe("throughFile");
  expect(["", " ", "a//b", "/a", "a/"].map((path) => pathProblem(there, path))).toEqual(
    Array(5).fill("empty"),
  );
  expect(["../a", "a/./b", "a\\b"].map((path) => pathProblem(there, path))).toEqual(Array(3).fill("outside"));
  expect(pathProblem(there, "scripts/start", "scripts")).toBeUndefined();
  expect(pathProblem(there, "main.tf", "main.tf")).toBeUndefined();
});

test("files and folders are moved, removed and replaced", () => {
  const there = files("main.tf", "s/a.sh", "s/b.sh", "sx");
  expect(names(moved(there, "s", "scripts"))).toEqual(["main.tf", "scripts/a.sh", "scripts/b.sh", "sx"]);
  expect(names(without(there, "s"))).toEqual(["main.tf", "sx"]);
  const replaced = withAll(there, [newSource("main.tf", bytes("new"))]);
  expect(replaced.get("main.tf")?.text).toBe("new");
  expect(replaced.size).toBe(4);
  const clash = (...paths: string[]) => clashOf(there, [...files(...paths).values()]);
  expect(clash("main.tf", "s/c.sh")).toBeUndefined();
  expect([clash("s"), clash("sx/y"), clash("n", "n/x")]).toEqual(["s", "sx/y", "n"]);
});

test("a tree has folders first, and names as people sort them", () => {
  const tree = treeOf(["b10.tf", "b2.tf", "a/x", "z/y/w", "z/a"]);
  const flat = (branches: typeof tree): unknown[] =>
    branches.map((each) => (each.children ? [each.name, flat(each.children)] : each.name));
  expect(flat(tree)).toEqual([["a", ["x"]], ["z", [["y", ["w"]], "a"]], "b2.tf", "b10.tf"]);
  expect(tree[1]?.children?.[0]?.path).toBe("z/y");
});

test("main.tf is shown first, else the next best", () => {
  expect(firstFile(files("README.md", "main.tf"))).toBe("main.tf");
  expect(firstFile(files("README.md", "x.tf"))).toBe("x.tf");
  expect(firstFile(files("README.md"))).toBe("README.md");
  expect(firstFile(files())).toBeUndefined();
});
