/** The pages about oneself: for their navigation, and for the command palette. */

import type { LinkProps } from "@tanstack/react-router";
import {
  Bell,
  CircleUserRound,
  FileKey2,
  KeyRound,
  type LucideIcon,
  Moon,
  Palette,
  ShieldCheck,
} from "lucide-react";
import type { Catalogue } from "@/i18n/en";

export interface AccountPage {
  to: Exclude<LinkProps["to"], undefined>;
  icon: LucideIcon;
  word: keyof Catalogue["account"]["pages"];
}

export const ACCOUNT_PAGES: readonly AccountPage[] = [
  { to: "/settings/account", icon: CircleUserRound, word: "profile" },
  { to: "/settings/security", icon: ShieldCheck, word: "security" },
  { to: "/settings/appearance", icon: Palette, word: "appearance" },
  { to: "/settings/schedule", icon: Moon, word: "schedule" },
  { to: "/settings/tokens", icon: KeyRound, word: "tokens" },
  { to: "/settings/ssh-keys", icon: FileKey2, word: "sshKey" },
  { to: "/settings/notifications", icon: Bell, word: "notifications" },
];
