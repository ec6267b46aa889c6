/** Emojis as stock names them: pictures by code points. The platform draws its own, so none are carried. */

/** The characters of `/emojis/1f1eb-1f1f7.png`; `undefined` for what is no such address. */
export function emojiOf(icon: string): string | undefined {
  const points = /^\/emojis\/([0-9a-f]{2,6}(?:-[0-9a-f]{2,6})*)\.png$/i.exec(icon)?.[1];
  const numbers = points?.split("-").map((point) => Number.parseInt(point, 16));
  return numbers?.every((each) => each <= 0x10ffff) ? String.fromCodePoint(...numbers) : undefined;
}
