/** Where a new session leads. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { meQuery } from "@/api/queries";
import { isPage, safeRedirect } from "@/lib/redirect";

/** Goes on to the address that was asked for; first to the choice of a password, for those who have none of their own. */
export function useEnter() {
  const client = useQueryClient();
  const router = useRouter();
  const navigate = useNavigate();
  return async (wanted: string | undefined) => {
    // Whatever is remembered is another session's.
    client.clear();
    const to = safeRedirect(wanted);
    // Apps are the server's, which lets nobody in who has to choose a password.
    if (!isPage(to) && !(await client.fetchQuery(meQuery)).must_change_password) {
      window.location.assign(to);
      return;
    }
    await router.invalidate();
    if (isPage(to)) await navigate({ href: to });
    else await navigate({ to: "/change-password", search: { redirect: to } });
  };
}
