/** Templates: the gallery, a template, its versions, the editor. */

export const templates = {
  title: "Templates",
  create: "New template",
  editFiles: "Edit its files",
};
