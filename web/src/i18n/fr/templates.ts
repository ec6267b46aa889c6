/** Templates: the gallery, a template, its versions, the editor. */

import type { Catalogue } from "../en";

export const templates: Catalogue["templates"] = {
  title: "Modèles",
  create: "Nouveau modèle",
  editFiles: "Modifier ses fichiers",
};
