/** Goes through pages with the keyboard alone. */

import type { Locator, Page } from "playwright-core";

/** More than any page has things to stop at. */
const MOST_STOPS = 200;

export class Keyboard {
  constructor(private readonly page: Page) {}

  press(keys: string): Promise<void> {
    return this.page.keyboard.press(keys);
  }

  /** Presses Tab until the thing has the focus; that must be visible there. */
  async reach(target: Locator): Promise<void> {
    await target.waitFor();
    for (let stops = 0; stops < MOST_STOPS; stops += 1) {
      const outline = await target.evaluate((element) =>
        element === document.activeElement ? getComputedStyle(element).outlineStyle : undefined,
      );
      if (outline === "none") throw new Error(`the focus cannot be seen on ${target}`);
      if (outline) return;
      await this.press("Tab");
    }
    throw new Error(`${target} cannot be reached with Tab`);
  }

  /** Goes to a button or link and presses it. */
  async choose(target: Locator): Promise<void> {
    await this.reach(target);
    await this.press("Enter");
  }

  /** Goes to a field and writes into it in place of what is there. */
  async write(target: Locator, text: string): Promise<void> {
    await this.reach(target);
    await this.press("Control+A");
    await this.page.keyboard.type(text);
  }
}
