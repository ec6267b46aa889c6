/** What is about oneself: profile, appearance, tokens, keys, notifications, inbox. */

import { http } from "../api";
import { ago, NEVER, token, uuid } from "../samples";
import type { World } from "../world";

const UNKNOWN = { message: "Resource not found or you do not have access to this resource" };

export function accountHandlers(world: World) {
  const unread = () => world.inbox.filter((each) => each.read_at === null).length;
  return [
    http.put("/users/{user}/profile", async ({ request, response }) => {
      const { username = "", name = "" } = await request.json();
      if (!world.me) return response("default").json(UNKNOWN, { status: 404 });
      const news = { ...world.me, username, name };
      world.me = news;
      return response(200).json(news);
    }),
    http.put("/users/{user}/password", ({ response }) => response(204).empty()),
    http.get("/users/{user}/appearance", ({ response }) => response(200).json(world.appearance)),
    http.put("/users/{user}/appearance", async ({ request, response }) => {
      const { theme_preference = "", terminal_font = "" } = await request.json();
      world.appearance = { theme_preference, terminal_font };
      return response(200).json(world.appearance);
    }),
    http.get("/users/{user}/quiet-hours", ({ response }) =>
      response(200).json({
        raw_schedule: "CRON_TZ=UTC 0 0 * * *",
        time: "00:00",
        timezone: "UTC",
        next: ago(-600),
        user_can_set: true,
        user_set: false,
      }),
    ),
    http.get("/users/{user}/gitsshkey", ({ response }) =>
      response(200).json({
        user_id: world.me?.id ?? "",
        public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHk0c0bW9jay1rZXktZm9yLXRlc3RzLW9ubHkh",
        created_at: ago(1000),
        updated_at: ago(1000),
      }),
    ),
    http.get("/users/{user}/keys/tokens", ({ response }) => response(200).json(world.tokens)),
    http.get("/users/{user}/keys/tokens/tokenconfig", ({ response }) =>
      response(200).json({ max_token_lifetime: 90 * 24 * 3600 * 1_000_000_000 }),
    ),
    http.post("/users/{user}/keys/tokens", async ({ request, response }) => {
      const { token_name = "", scope } = await request.json();
      const made = token({
        id: uuid().slice(-10),
        token_name,
        scope: scope === "application_connect" ? scope : "all",
        last_used: NEVER,
      });
      world.tokens = [...world.tokens, made];
      return response(201).json({ key: `${made.id}-Zx8Kq2Lm5Np7Rt9Vw3Yb` });
    }),
    http.delete("/users/{user}/keys/{key}", ({ params, response }) => {
      world.tokens = world.tokens.filter((each) => each.id !== params.key);
      return response(204).empty();
    }),
    http.get("/notifications/settings", ({ response }) => response(200).json({ notifier_paused: false })),
    http.get("/notifications/templates/system", ({ response }) =>
      response(200).json(world.notificationTemplates),
    ),
    http.get("/notifications/dispatch-methods", ({ response }) =>
      response(200).json({ available: ["smtp", "webhook"], default: "smtp" }),
    ),
    http.get("/users/{user}/notifications/preferences", ({ response }) =>
      response(200).json(world.notificationPreferences),
    ),
    http.put("/users/{user}/notifications/preferences", async ({ request, response }) => {
      const { template_disabled_map } = await request.json();
      for (const [id, disabled] of Object.entries(template_disabled_map ?? {})) {
        world.notificationPreferences = [
          ...world.notificationPreferences.filter((each) => each.id !== id),
          { id, disabled, updated_at: ago(0) },
        ];
      }
      return response(200).json(world.notificationPreferences);
    }),
    http.get("/notifications/inbox", ({ response }) =>
      response(200).json({ notifications: world.inbox.slice(0, 25), unread_count: unread() }),
    ),
    http.put("/notifications/inbox/mark-all-as-read", ({ response }) => {
      world.inbox = world.inbox.map((each) => ({ ...each, read_at: each.read_at ?? ago(0) }));
      return response(204).empty();
    }),
    http.put("/notifications/inbox/{id}/read-status", async ({ params, request, response }) => {
      const { is_read } = await request.json();
      world.inbox = world.inbox.map((each) =>
        each.id === params.id ? { ...each, read_at: is_read ? ago(0) : null } : each,
      );
      const notification = world.inbox.find((each) => each.id === params.id);
      if (!notification) return response("default").json(UNKNOWN, { status: 404 });
      return response(200).json({ notification, unread_count: unread() });
    }),
  ];
}
