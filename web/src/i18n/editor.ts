/** The texts of files: new templates, versions, the editor, and what shows a file's lines anywhere. */

import { useAreaI18n } from "./area";
import { editor as en } from "./en/editor";
import { editor as fr } from "./fr/editor";

const texts = { en: { editor: en }, fr: { editor: fr } };

export const useEditorI18n = () => useAreaI18n(texts);
