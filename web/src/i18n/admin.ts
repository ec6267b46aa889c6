/** The texts of the admin area. */

import { useAreaI18n } from "./area";
import type { Catalogue } from "./en";
import { admin as en } from "./en/admin";
import { admin as fr } from "./fr/admin";

export type AdminCatalogue = Catalogue & { admin: typeof en };

const texts = { en: { admin: en }, fr: { admin: fr } };

export const useAdminI18n = () => useAreaI18n(texts);
