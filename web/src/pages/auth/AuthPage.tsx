/** The shell of the pages before the sign-in: one form in the middle, theme and language in the corner. */

import { Settings2 } from "lucide-react";
import type { FormEvent, ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "@/ui/Button";
import { Logo } from "@/ui/Logo";
import { Menu } from "@/ui/Menu";
import { Preferences } from "../Preferences";
import "./auth.css";

export function AuthPage({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}) {
  const t = useT();
  return (
    <main className="auth" id="content">
      <div className="auth-corner">
        <Menu
          trigger={<Button look="quiet" icon={Settings2} aria-label={`${t.nav.theme}, ${t.nav.language}`} />}
        >
          <Preferences />
        </Menu>
      </div>
      <div className="auth-card">
        <Logo size={40} />
        <h1>{title}</h1>
        {lead && <p className="muted">{lead}</p>}
        {children}
      </div>
    </main>
  );
}

/** A form that sends itself without leaving the page. */
export function AuthForm({
  onSubmit,
  children,
}: {
  onSubmit: (values: FormData) => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form className="auth-form" onSubmit={submit}>
      {children}
    </form>
  );
}
