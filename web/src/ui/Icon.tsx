/** A picture that a template or one of its parameters names; the kind of thing it is where there is none. */

import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import { emojiOf } from "@/lib/emoji";
import { imageSource } from "@/lib/readme";
import "./icon.css";

interface Props {
  /** Its address. Only pictures of this site and those within the text are loaded. */
  icon: string;
  /** What is drawn without one; nothing when there is no sign for it. */
  fallback?: LucideIcon;
  size?: number;
}

export function Icon({ icon, fallback: Fallback, size = 20 }: Props) {
  const [broken, setBroken] = useState("");
  const emoji = emojiOf(icon);
  if (emoji) {
    return (
      <span className="icon icon-emoji" aria-hidden style={{ fontSize: size * 0.8, width: size }}>
        {emoji}
      </span>
    );
  }
  const source = imageSource(icon, window.location.origin);
  if (source && broken !== icon) {
    return (
      <img className="icon" src={source} alt="" width={size} height={size} onError={() => setBroken(icon)} />
    );
  }
  return Fallback ? <Fallback size={size} aria-hidden className="icon" /> : null;
}
