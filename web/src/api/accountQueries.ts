/** What the UI remembers of oneself: appearance, quiet hours, tokens, SSH key, which notifications one wants. */

import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { setTheme, type Theme, themeFromAccount, themeToAccount } from "@/lib/theme";
import { account, authCheck, notifications, tokens } from "./endpoints";
import { meQuery } from "./queries";
import type { UserAppearance } from "./types";

export const appearanceQuery = queryOptions({
  queryKey: ["appearance"],
  queryFn: account.appearance,
  staleTime: 5 * 60_000,
});

export const tokensQuery = queryOptions({ queryKey: ["tokens"], queryFn: tokens.list });

export const tokenConfigQuery = queryOptions({ queryKey: ["tokenConfig"], queryFn: tokens.config });

export const quietHoursQuery = queryOptions({ queryKey: ["quietHours"], queryFn: account.quietHours });

export const sshKeyQuery = queryOptions({ queryKey: ["sshKey"], queryFn: account.sshKey });

/** A key made for another program. It is made once, and forgotten when its page is left. */
export const sessionKeyQuery = queryOptions({
  queryKey: ["sessionKey"],
  queryFn: account.createSessionKey,
  staleTime: "static",
  gcTime: 0,
  retry: false,
});

export const notificationSettingsQuery = queryOptions({
  queryKey: ["notificationSettings"],
  queryFn: notifications.settings,
});

export const notificationTemplatesQuery = queryOptions({
  queryKey: ["notificationTemplates"],
  queryFn: notifications.templates,
  staleTime: 5 * 60_000,
});

export const notificationMethodsQuery = queryOptions({
  queryKey: ["notificationMethods"],
  queryFn: notifications.methods,
  staleTime: 5 * 60_000,
});

export const notificationPreferencesQuery = queryOptions({
  queryKey: ["notificationPreferences"],
  queryFn: notifications.preferences,
});

/** `notification_test` in `crates/server/src/app/notifications.rs` asks the same. */
export const mayTestNotificationsQuery = queryOptions({
  queryKey: ["mayTestNotifications"],
  staleTime: 5 * 60_000,
  queryFn: () => authCheck({ test: { object: { resource_type: "deployment_config" }, action: "update" } }),
});

/** What changes of one's appearance; the rest stays as the account has it. */
export interface AppearanceChange {
  theme?: Theme;
  font?: string;
}

/** The server takes both fields at once, and no empty theme. */
function changed(old: UserAppearance | undefined, change: AppearanceChange, shown: Theme): UserAppearance {
  return {
    theme_preference: themeToAccount(change.theme ?? themeFromAccount(old?.theme_preference) ?? shown),
    terminal_font: change.font ?? old?.terminal_font ?? "",
  };
}

async function save(client: QueryClient, change: AppearanceChange, shown: Theme): Promise<void> {
  // The field that does not change must be known before both are written.
  const old = await client.ensureQueryData(appearanceQuery);
  const next = changed(old, change, shown);
  client.setQueryData(appearanceQuery.queryKey, next);
  try {
    await account.setAppearance(next);
  } catch (error) {
    client.setQueryData(appearanceQuery.queryKey, old);
    throw error;
  }
}

/** Saves a choice with the account; before the sign-in there is none to save it with. */
export function useSaveAppearance(shown: Theme) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: AppearanceChange) => {
      if (client.getQueryData(meQuery.queryKey)) await save(client, change, shown);
    },
  });
}

/** The theme that the account has, wherever one signs in. Without one, this browser keeps what it has. */
export function useAccountTheme() {
  const { data } = useQuery(appearanceQuery);
  const theme = themeFromAccount(data?.theme_preference);
  useEffect(() => {
    if (theme) setTheme(theme);
  }, [theme]);
}

/** Switches a kind of notification at once, and takes it back if the server refuses. */
export function useNotificationPreference() {
  const client = useQueryClient();
  const { queryKey } = notificationPreferencesQuery;
  return useMutation({
    mutationFn: ({ id, disabled }: { id: string; disabled: boolean }) =>
      notifications.setPreferences({ [id]: disabled }),
    onMutate: async ({ id, disabled }) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, (old = []) => [
        ...old.filter((each) => each.id !== id),
        { id, disabled, updated_at: new Date().toISOString() },
      ]);
      return before;
    },
    onError: (_error, _change, before) => client.setQueryData(queryKey, before),
    // Not waited for: why it was refused is said at once.
    onSettled: () => {
      void client.invalidateQueries({ queryKey });
    },
  });
}
