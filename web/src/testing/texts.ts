/** All texts of each language, those of single areas too. */

import { en as pagesEn } from "../i18n/en";
import { admin as adminEn } from "../i18n/en/admin";
import { editor as editorEn } from "../i18n/en/editor";
import { fr as pagesFr } from "../i18n/fr";
import { admin as adminFr } from "../i18n/fr/admin";
import { editor as editorFr } from "../i18n/fr/editor";

export const en = { ...pagesEn, admin: adminEn, editor: editorEn };
export const fr: typeof en = { ...pagesFr, admin: adminFr, editor: editorFr };
