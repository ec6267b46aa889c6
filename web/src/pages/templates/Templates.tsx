/** The templates that one may see. */

import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";

export function Templates() {
  const t = useT();
  useTitle(t.templates.title);
  return (
    <main className="page" id="content">
      <h1>{t.templates.title}</h1>
    </main>
  );
}
