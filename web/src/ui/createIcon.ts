/**
 * Draws the icons of lucide-react in place of its own function for that (see `vite.config.ts`), which puts the attributes of
 * each together from lists at each drawing: in a list that scrolls, a third of all the work.
 */

import type { IconNode, LucideProps } from "lucide-react";
import { createElement } from "react";

export default function createIcon({ node }: { node: IconNode }) {
  const shapes = node.map(([tag, attributes]) => createElement(tag, attributes));
  return ({ size = 24, ...rest }: LucideProps) =>
    createElement(
      "svg",
      {
        width: size,
        height: size,
        viewBox: "0 0 24 24",
        fill: "none",
        stroke: "currentColor",
        strokeWidth: 2,
        strokeLinecap: "round",
        strokeLinejoin: "round",
        "aria-hidden": rest["aria-label"] ? undefined : true,
        ...rest,
      },
      shapes,
    );
}
