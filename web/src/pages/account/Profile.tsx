/** One's own name and sign-in. */

import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";

export function Profile() {
  const t = useT();
  useTitle(t.account.pages.profile);
  return (
    <main className="page" id="content">
      <h1>{t.account.pages.profile}</h1>
    </main>
  );
}
