/** The pages about oneself. */

import type { Catalogue } from "../en";

export const account: Catalogue["account"] = {
  title: "Compte",
  pages: { profile: "Profil" },
};
