/** A sign for a starter template, by the icon that it names. */

import { Container, LayoutTemplate, Terminal } from "lucide-react";

export function ExampleIcon({ icon }: { icon: string }) {
  const Sign = icon.includes("docker") ? Container : icon.includes("terminal") ? Terminal : LayoutTemplate;
  return <Sign size={20} aria-hidden />;
}
