/** The form of a new workspace: each kind of parameter, what it refuses before anything is sent, and what the server refuses. */

import { screen, waitFor, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { TemplateParameter } from "@/api/types";
import { mount } from "@/testing/mount";
import { hold, http, REQUEST_ID, refuse } from "../../../mock-api/api";
import { options, parameter, preset, template, uuid, version, workspace } from "../../../mock-api/samples";
import type { World } from "../../../mock-api/world";

const active = version();
const docker = template({ name: "docker", display_name: "Docker", active_version_id: active.id });
const WORLD: Partial<World> = { templates: [docker], versions: [{ ...active, template_id: docker.id }] };
const ADDRESS = "/templates/docker/workspace";

/** Opens the form, and keeps what it sends. */
async function open(over: Partial<World>, address = ADDRESS, language: "en" | "fr" = "en") {
  const sent: { name?: string; rich_parameter_values?: { name?: string; value?: string }[] | null }[] = [];
  const mounted = await mount(address, {
    language,
    world: { ...WORLD, ...over },
    but: [
      http.post("/users/{user}/workspaces", async ({ request }) => {
        sent.push(await request.clone().json());
        return undefined as never;
      }),
    ],
  });
  const submit = async () => {
    await mounted.user.click(document.querySelector("button[type=submit]") as HTMLElement);
  };
  await waitFor(() => expect(document.querySelector("form")).not.toBeNull());
  const values = () =>
    Object.fromEntries((sent[0]?.rich_parameter_values ?? []).map(({ name, value }) => [name, value]));
  return { ...mounted, sent, submit, values };
}

const range = { validation_min: 1, validation_max: 8 };

describe("each kind of parameter", () => {
  const cases: [
    string,
    TemplateParameter,
    (user: Awaited<ReturnType<typeof mount>>["user"]) => Promise<void>,
    string,
  ][] = [
    ["text", parameter("p"), (user) => user.type(screen.getByLabelText("p"), "eu-west"), "eu-west"],
    [
      "long text",
      parameter("p", { form_type: "textarea" }),
      (user) => user.type(screen.getByLabelText("p"), "one{Enter}two"),
      "one\ntwo",
    ],
    [
      "number",
      parameter("p", { type: "number", ...range }),
      (user) => user.type(screen.getByLabelText("p"), "4"),
      "4",
    ],
    [
      "radio",
      parameter("p", { form_type: "radio", options: options("small", "large") }),
      (user) => user.click(screen.getByLabelText("large")),
      "large",
    ],
    [
      "dropdown",
      parameter("p", { form_type: "dropdown", options: options("small", "large") }),
      (user) => user.selectOptions(screen.getByLabelText("p"), "large"),
      "large",
    ],
    [
      "checkbox",
      parameter("p", { type: "bool", form_type: "checkbox" }),
      (user) => user.click(screen.getByRole("checkbox")),
      "true",
    ],
    [
      "switch",
      parameter("p", { type: "bool", form_type: "switch" }),
      (user) => user.click(screen.getByRole("switch")),
      "true",
    ],
    [
      "several of some",
      parameter("p", {
        type: "list(string)",
        form_type: "multi-select",
        options: options("go", "rust", "zig"),
        default_value: '["zig"]',
      }),
      (user) => user.click(screen.getByLabelText("go")),
      '["go","zig"]',
    ],
    [
      "tags",
      parameter("p", { type: "list(string)", form_type: "tag-select" }),
      (user) => user.type(screen.getByLabelText(/^p/), "one{Enter}two{Enter}"),
      '["one","two"]',
    ],
  ];

  test.each(cases)("%s is sent as it was given", async (_kind, each, give, wanted) => {
    const { user, submit, sent, values, at } = await open({ parameters: [each] });
    await give(user);
    await submit();
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(values()).toEqual({ p: wanted });
    await waitFor(() => expect(at()).toBe("/@ada/docker"));
  });

  test("a slider begins at its low end", async () => {
    const { submit, sent, values } = await open({
      parameters: [parameter("p", { type: "number", form_type: "slider", ...range })],
    });
    expect((screen.getByRole("slider") as HTMLInputElement).max).toBe("8");
    await submit();
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(values()).toEqual({ p: "1" });
  });
});

describe("before anything is sent", () => {
  test.each<[string, TemplateParameter, string, string]>([
    ["nothing where something is needed", parameter("p", { required: true }), "", "A value is needed."],
    ["no number", parameter("p", { type: "number" }), "four", "This is not a number."],
    ["a number that is too large", parameter("p", { type: "number", ...range }), "9", "Must be from 1 to 8."],
    [
      "a number that is too small",
      parameter("p", { type: "number", validation_min: 3 }),
      "2",
      "Must be at least 3.",
    ],
  ])("%s is refused at its field", async (_what, each, typed, words) => {
    const { user, submit, sent } = await open({ parameters: [each] });
    const field = screen.getByLabelText("p");
    if (typed) await user.type(field, typed);
    expect(screen.queryByText(words)).toBeNull();
    await submit();
    await screen.findByText(words);
    expect(field.getAttribute("aria-invalid")).toBe("true");
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(sent).toEqual([]);
  });

  test("no choice among options is refused, in French too", async () => {
    const { submit, sent } = await open(
      {
        parameters: [
          parameter("p", { required: true, form_type: "radio", options: options("small", "large") }),
        ],
      },
      ADDRESS,
      "fr",
    );
    await submit();
    await screen.findByText("Une valeur est nécessaire.");
    expect(sent).toEqual([]);
  });

  test("a name that the server would not take is refused", async () => {
    const { user, submit, sent } = await open({});
    const name = screen.getByLabelText("Name");
    await user.clear(name);
    await user.type(name, "not a name");
    await submit();
    await screen.findByText("Use letters, digits and single hyphens between them; at most 32 characters.");
    expect(sent).toEqual([]);
  });

  test("a parameter that the template asks for wrongly keeps one from sending", async () => {
    const { submit, sent } = await open({ parameters: [parameter("p", { form_type: "error" })] });
    const note = (await screen.findByText("p")).closest(".note");
    expect(note?.textContent).toContain("The template asks for this parameter in a way that does not work.");
    await submit();
    expect(sent).toEqual([]);
  });
});

test("what the server refuses is said at its field", async () => {
  const { user } = await mount(ADDRESS, {
    world: { ...WORLD, parameters: [parameter("region")] },
    but: [
      refuse("post", "/users/{user}/workspaces", 400, {
        message: "Validation failed.",
        validations: [
          { field: "name", detail: "This value is already in use and should be unique." },
          { field: "region", detail: "there is no room in this region" },
        ],
      }),
    ],
  });
  await user.click(await screen.findByText("Create workspace"));
  const frame = (field: HTMLElement) => within(field.closest(".field") as HTMLElement);
  await screen.findByText("This name is already taken.");
  frame(screen.getByLabelText("Name")).getByText("This name is already taken.");
  frame(screen.getByLabelText("region")).getByText("there is no room in this region");
  expect(screen.queryByText("Validation failed.")).toBeNull();
});

test("what it refuses for another reason is said below, with its request", async () => {
  const { user } = await mount(ADDRESS, {
    world: WORLD,
    but: [
      refuse("post", "/users/{user}/workspaces", 403, { message: "The quota of your group is used up." }),
    ],
  });
  await user.click(await screen.findByText("Create workspace"));
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("The quota of your group is used up.");
  expect(note.textContent).toContain(REQUEST_ID);
  expect(screen.getByText("Create workspace").closest("button")?.getAttribute("aria-busy")).toBeNull();
});

test("a second press while the first is on its way makes no second workspace", async () => {
  const { handler, release } = hold("post", "/users/{user}/workspaces");
  const { user, api, at } = await mount(ADDRESS, { world: WORLD, but: [handler] });
  await user.click(await screen.findByText("Create workspace"));
  await user.click(await screen.findByText("Creating…"));
  release();
  await waitFor(() => expect(at()).toBe("/@ada/docker"));
  expect(api.world.workspaces).toHaveLength(1);
});

test("the name that is proposed is one that is free", async () => {
  await open({ workspaces: [workspace({ name: "docker" }), workspace({ name: "docker-2" })] });
  expect((screen.getByLabelText("Name") as HTMLInputElement).value).toBe("docker-3");
});

test("without what was used before, the form only proposes less", async () => {
  await mount(ADDRESS, {
    world: { ...WORLD, parameters: [parameter("region", { default_value: "eu" })] },
    but: [
      refuse("get", "/users/{user}/autofill-parameters", 500, { message: "No." }),
      refuse("get", "/workspaces", 500, { message: "No." }),
    ],
  });
  expect(((await screen.findByLabelText("region")) as HTMLInputElement).value).toBe("eu");
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a preset sets values that cannot be changed then", async () => {
  const big = preset("Big", { size: "large" });
  const { user, submit, values, sent } = await open({
    presets: [big],
    parameters: [parameter("size", { default_value: "small" })],
  });
  await user.selectOptions(screen.getByLabelText("Preset"), "Big");
  const size = screen.getByLabelText(/^size/) as HTMLInputElement;
  expect([size.value, size.disabled]).toEqual(["large", true]);
  screen.getByText("from the preset Big");
  await submit();
  await waitFor(() => expect(sent).toHaveLength(1));
  expect(values()).toEqual({ size: "large" });
});

test("a link fills in, says so, and names what does not fit", async () => {
  await open(
    { parameters: [parameter("region")] },
    `${ADDRESS}?param.region=us&param.colour=red&name=from-link`,
  );
  expect((screen.getByLabelText(/^region/) as HTMLInputElement).value).toBe("us");
  screen.getByText("from the link");
  expect((screen.getByLabelText("Name") as HTMLInputElement).value).toBe("from-link");
  screen.getByText("The link sets parameters that this template does not have: “colour”.");
});

test("a link makes nothing before somebody has agreed", async () => {
  const { user, api, at } = await mount(`${ADDRESS}?mode=auto&name=from-link`, { world: WORLD });
  await screen.findByText("A link asks to create this workspace");
  expect(api.world.workspaces).toEqual([]);
  await user.click(screen.getByText("Create workspace"));
  await waitFor(() => expect(at()).toBe("/@ada/from-link"));
});

test("whoever may not create workspaces is told so", async () => {
  await mount(ADDRESS, { world: { ...WORLD, may: ({ action }) => action !== "create" } });
  await screen.findByText("Ask whoever manages this deployment for the permission to create workspaces.");
  expect(screen.queryByText("Create workspace")).toBeNull();
});

test("a template that is deprecated makes none", async () => {
  const old = { ...docker, id: uuid(), name: "old", deprecated: true, deprecation_message: "Use docker." };
  await mount("/templates/old/workspace", { world: { templates: [old], versions: [] } });
  await screen.findByText("Use docker.");
  expect(screen.queryByText("Create workspace")).toBeNull();
});
