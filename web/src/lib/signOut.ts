/** Ends the session, and forgets all that it could see. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { session } from "@/api/endpoints";

export function useSignOut() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: session.logout,
    onSettled: async () => {
      await navigate({ to: "/login" });
      client.clear();
    },
  });
}
