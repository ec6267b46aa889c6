import { expect, test } from "vitest";
import { emojiOf } from "./emoji";

test("an emoji is named by its code points", () => {
  expect(emojiOf("/emojis/1f4e6.png")).toBe("📦");
  expect(emojiOf("/emojis/1f1eb-1f1f7.png")).toBe("🇫🇷");
  expect(emojiOf("/emojis/23e9.png")).toBe("⏩");
});

test("nothing else is one", () => {
  for (const other of ["/icon/docker.svg", "/emojis/x.png", "/emojis/ffffff.png", "/emojis/1f4e6.png?x", ""])
    expect(emojiOf(other), other).toBeUndefined();
});
