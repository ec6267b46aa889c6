/** One page about oneself: its title, what it is for, and room for forms that one can read. */

import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { useTitle } from "@/lib/title";
import "./account.css";

interface Props {
  title: string;
  lead?: ReactNode;
  /** Stands beside the title. */
  action?: ReactNode;
  children: ReactNode;
}

export function AccountPage({ title, lead, action, children }: Props) {
  const t = useT();
  useTitle(title, t.account.title);
  return (
    <main className="page account" id="content">
      <div className="account-head">
        <div className="page-head">
          <h1>{title}</h1>
          {action}
        </div>
        {lead && <p className="account-lead">{lead}</p>}
      </div>
      {children}
    </main>
  );
}
