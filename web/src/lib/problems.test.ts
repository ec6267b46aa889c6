import { expect, test } from "vitest";
import { problemsOf } from "./problems";

const errors = (...texts: string[]) => texts.map((text) => ({ level: "error", text }));

test("Terraform's errors tell what, where and why, without repeating the file", () => {
  const log = [
    { level: "info", text: "Terraform 1.11.4" },
    ...errors(
      "Error: Unsupported argument",
      'on main.tf line 8, in resource "terraform_data" "x":',
      "  8:   inptu = 1",
      'An argument named "inptu" is not expected here.',
      'Did you mean "input"?',
      "Error: No place",
      "with module.x",
    ),
  ];
  expect(problemsOf(log, "terraform plan: …")).toEqual([
    {
      message: "Unsupported argument",
      detail: 'An argument named "inptu" is not expected here. Did you mean "input"?',
      file: "main.tf",
      line: 8,
    },
    { message: "No place", detail: "with module.x" },
  ]);
});

test("a syntax error names its place in front", () => {
  expect(problemsOf(errors("a b/main.tf:2:7: syntax error: expected `<`"), "")).toEqual([
    { message: "syntax error: expected `<`", detail: "", file: "a b/main.tf", line: 2 },
  ]);
});

test("without a log, the job's error is read", () => {
  expect(problemsOf([], "terraform plan: Unsupported argument (main.tf:8): It is not expected.")).toEqual([
    { message: "Unsupported argument", detail: "It is not expected.", file: "main.tf", line: 8 },
  ]);
  expect(problemsOf([], "the template cannot be read: x.tf:2:7: syntax error")[0]).toMatchObject({ line: 2 });
  expect(problemsOf(errors("the disk is full"), "the disk is full")).toEqual([
    { message: "the disk is full", detail: "" },
  ]);
  expect(problemsOf([], "")).toEqual([]);
});

test("escapes and frames of a terminal are no part of a message", () => {
  expect(
    problemsOf(errors("\u001b[31m╷", "│ Error: \u001b[1mFailed", "│", "│ because <b>", "╵"), "")[0],
  ).toMatchObject({ message: "Failed", detail: "because <b>" });
});
