/** Copies a text, and says so where it happened. */

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { useT } from "@/i18n";
import { Button, type Look } from "./Button";

/** Works without the clipboard permission too, which plain HTTP deployments do not give. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function CopyButton(props: { text: () => string; label?: string; look?: Look; children?: string }) {
  const t = useT();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = window.setTimeout(() => setDone(false), 1500);
    return () => window.clearTimeout(timer);
  }, [done]);
  const label = done ? t.common.copied : (props.label ?? t.common.copy);
  return (
    <>
      <Button
        look={props.look ?? "quiet"}
        icon={done ? Check : Copy}
        {...(props.children ? {} : { label })}
        onClick={() => void copyText(props.text()).then(() => setDone(true))}
      >
        {props.children && (done ? t.common.copied : props.children)}
      </Button>
      <span className="unseen" role="status">
        {done ? t.common.copied : ""}
      </span>
    </>
  );
}
