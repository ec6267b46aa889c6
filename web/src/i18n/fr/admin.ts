/** The pages of those who run the deployment. */

import type { Catalogue } from "../en";

export const admin: Catalogue["admin"] = {
  title: "Administration",
  pages: { users: "Utilisateurs" },
};
