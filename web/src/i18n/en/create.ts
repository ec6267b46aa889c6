/** A new workspace. */

import { plural } from "../plural";

const n = new Intl.NumberFormat("en");
const count = (value: number, one: string, other: string) =>
  `${n.format(value)} ${plural("en", value, { one, other })}`;

export const create = {
  chooseTitle: "New workspace",
  chooseLead: "Choose the template to make it from.",
  use: (template: string) => `Use ${template}`,
  users: (active: number) => count(active, "active developer", "active developers"),
  buildTime: (time: string) => `starts in about ${time}`,
  title: (template: string) => `New workspace from ${template}`,
  name: "Name",
  nameHint: "Letters, digits and single hyphens; at most 32 characters.",
  badName: "Use letters, digits and single hyphens between them; at most 32 characters.",
  owner: "Owner",
  ownerHint: "The username of whoever the workspace is for.",
  parameters: "Parameters",
  immutable: "cannot be changed later",
  ephemeral: "for this build only",
  choose: "Choose…",
  narrow: "Narrow the choices",
  noOption: "No choice matches.",
  addTag: "Add a value",
  removeTag: (tag: string) => `Remove ${tag}`,
  tagHint: "Enter adds a value.",
  onlyUp: "Later it can only be increased.",
  onlyDown: "Later it can only be decreased.",
  parameterError:
    "The template asks for this parameter in a way that does not work. Tell whoever manages it.",
  numberRange: (min?: number, max?: number) =>
    min !== undefined && max !== undefined
      ? `From ${min} to ${max}.`
      : min !== undefined
        ? `At least ${min}.`
        : `At most ${max}.`,
  outOfRange: (min?: number, max?: number) =>
    min !== undefined && max !== undefined
      ? `Must be from ${min} to ${max}.`
      : min !== undefined
        ? `Must be at least ${min}.`
        : `Must be at most ${max}.`,
  problems: {
    missing: "A value is needed.",
    number: "This is not a number.",
    bool: "Choose yes or no.",
    list: "This is not a list.",
    option: "This is not among the choices.",
  },
  origins: { link: "from the link", copy: "as in the copied workspace", used: "your last choice" },
  preset: "Preset",
  presetHint: "A preset sets several parameters at once.",
  noPreset: "None",
  fromPreset: (name: string) => `from the preset ${name}`,
  submit: "Create workspace",
  submitting: "Creating…",
  version: "Version",
  activeVersion: (name: string) => `${name} (active)`,
  otherVersion: "The link names another version, which cannot be chosen. This is the active one.",
  deprecated: "This template is deprecated",
  notReady: "The template’s active version is not ready, so no workspace can be made from it.",
  notAllowedText: "Ask whoever manages this deployment for the permission to create workspaces.",
  changeTemplate: "Choose another template",
  what: "What happens",
  whatText: "The workspace is built and started at once. You see the log while it happens.",
  stopsAfter: (time: string) => `It stops by itself after ${time}.`,
  neverStops: "It runs until you stop it.",
  copyTitle: (workspace: string) => `A duplicate of ${workspace}`,
  copyText: "Parameters, schedule and automatic updates are taken over. Files and running programs are not.",
  copyOther: (template: string) =>
    `That workspace was made from ${template}: only parameters of the same name fit.`,
  copyFailed: "The form begins without it.",
  unknownParameters: (names: string) =>
    `The link sets parameters that this template does not have: ${names}.`,
  consentTitle: "A link asks to create this workspace",
  consentText: "Go on only if you trust where the link came from. It chose the values marked as such.",
  review: "Change it first",
  refuse: "Do not create it",
};
