import { expect, test, vi } from "vitest";

vi.stubGlobal("document", { querySelector: () => null });
const { readElsewhere, withNews, withRead } = await import("./inbox");

const message = (id: string, read_at: string | null = null) => ({
  id,
  read_at,
  title: id,
  content: "",
  icon: "",
  actions: [],
  targets: [],
  user_id: "",
  template_id: "",
  created_at: "2026-01-01T00:00:00Z",
});
const pages = () => ({
  pageParams: [undefined, "b"],
  pages: [
    { notifications: [message("a"), message("b")], unread_count: 3 },
    { notifications: [message("c", "2026-01-02T00:00:00Z"), message("d")], unread_count: 3 },
  ],
});
const ids = (data: ReturnType<typeof withNews>) =>
  data?.pages.map((page) => page.notifications.map((each) => each.id));

test("news are put on top, once", () => {
  const once = withNews(pages(), { notification: message("new"), unread_count: 4 });
  expect(ids(once)).toEqual([
    ["new", "a", "b"],
    ["c", "d"],
  ]);
  expect(once?.pages[0]?.unread_count).toBe(4);
  expect(ids(withNews(once, { notification: message("new"), unread_count: 4 }))).toEqual(ids(once));
});

test("news before the list are left to the list", () => {
  expect(withNews(undefined, { notification: message("new"), unread_count: 1 })).toBeUndefined();
});

test("a count that does not fit tells of what was read elsewhere", () => {
  const news = (unread_count: number) => ({ notification: message("new"), unread_count });
  expect(readElsewhere(undefined, news(1))).toBe(false);
  expect(readElsewhere(pages(), news(4))).toBe(false);
  expect(readElsewhere(pages(), news(1))).toBe(true);
});

test("marking counts only what changes", () => {
  const count = (data: ReturnType<typeof withRead>) => data?.pages[0]?.unread_count;
  const now = "2026-01-03T00:00:00Z";
  expect(count(withRead(pages(), (each) => each.id === "d", now))).toBe(2);
  expect(count(withRead(pages(), (each) => each.id === "c", now))).toBe(3);
  expect(count(withRead(pages(), (each) => each.id === "c", null))).toBe(4);
  expect(count(withRead(pages(), () => true, now))).toBe(0);
});
