/** A sign for a starter template, by the icon that it names. */

import { Container, LayoutTemplate, Terminal } from "lucide-react";
import { Icon } from "@/ui/Icon";

export function ExampleIcon({ icon }: { icon: string }) {
  const Sign = icon.includes("docker") ? Container : icon.includes("terminal") ? Terminal : LayoutTemplate;
  return <Icon icon={icon} fallback={Sign} />;
}
