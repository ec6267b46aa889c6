/** Which kinds of notification one wants. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { BellOff, Send } from "lucide-react";
import {
  mayTestNotificationsQuery,
  notificationMethodsQuery,
  notificationPreferencesQuery,
  notificationSettingsQuery,
  notificationTemplatesQuery,
  useNotificationPreference,
} from "@/api/accountQueries";
import { notifications } from "@/api/endpoints";
import type { NotificationPreference, NotificationTemplate } from "@/api/types";
import { useT } from "@/i18n";
import { groupBy } from "@/lib/groups";
import { Button } from "@/ui/Button";
import { Check } from "@/ui/Field";
import { Empty, ErrorNote, Note, Skeleton } from "@/ui/Notes";
import { AccountPage } from "./AccountPage";

const isOn = (template: NotificationTemplate, chosen: NotificationPreference | undefined) =>
  chosen ? !chosen.disabled : template.enabled_by_default;

function Groups(props: { templates: NotificationTemplate[]; preferences: NotificationPreference[] }) {
  const t = useT();
  const preference = useNotificationPreference();
  const methods = useQuery(notificationMethodsQuery);
  const method = (name: string) => t.account.notifications.methods[name] ?? name;
  const hint = (template: NotificationTemplate) => {
    const name = template.method || methods.data?.default;
    return methods.data && methods.data.available.length > 1 && name ? method(name) : undefined;
  };
  return (
    <>
      {groupBy(props.templates, (template) => template.group).map(([group, kinds]) => (
        <section
          key={group}
          className="preferences"
          aria-label={t.account.notifications.groups[group] ?? group}
        >
          <h2>{t.account.notifications.groups[group] ?? group}</h2>
          {kinds.map((template) => (
            <Check
              key={template.id}
              label={t.account.notifications.kinds[template.id] ?? template.name}
              hint={hint(template)}
              checked={isOn(
                template,
                props.preferences.find((each) => each.id === template.id),
              )}
              onChange={(on) => preference.mutate({ id: template.id, disabled: !on })}
            />
          ))}
        </section>
      ))}
      {preference.error && <ErrorNote error={preference.error} />}
    </>
  );
}

function TestButton() {
  const t = useT();
  const { data: may } = useQuery(mayTestNotificationsQuery);
  const test = useMutation({ mutationFn: notifications.test });
  if (!may?.test) return null;
  return (
    <>
      <div className="form-actions">
        <Button icon={Send} busy={test.isPending} onClick={() => test.mutate()}>
          {t.account.notifications.test}
        </Button>
        <span role="status" className="small muted">
          {test.isSuccess ? t.account.notifications.tested : ""}
        </span>
      </div>
      {test.error && <ErrorNote error={test.error} />}
    </>
  );
}

export function Notifications() {
  const t = useT();
  const settings = useQuery(notificationSettingsQuery);
  const templates = useQuery(notificationTemplatesQuery);
  const preferences = useQuery(notificationPreferencesQuery);
  const methods = useQuery(notificationMethodsQuery);
  const error = templates.error ?? preferences.error;
  const words = t.account.notifications;
  const ways = methods.data?.available.map((name) => words.methods[name] ?? name).join(", ");
  return (
    <AccountPage title={t.account.pages.notifications} lead={ways ? words.by(ways) : words.lead}>
      {settings.data?.notifier_paused && (
        <Note icon={BellOff} tone="waiting">
          {t.account.notifications.paused}
        </Note>
      )}
      {error && (
        <ErrorNote
          error={error}
          onRetry={() => {
            void templates.refetch();
            void preferences.refetch();
          }}
        />
      )}
      {(templates.isPending || preferences.isPending) && <Skeleton rows={5} />}
      {templates.data && preferences.data && (
        <>
          {templates.data.length === 0 ? (
            <Empty icon={BellOff} title={t.account.notifications.none} />
          ) : (
            <Groups templates={templates.data} preferences={preferences.data} />
          )}
          <TestButton />
        </>
      )}
    </AccountPage>
  );
}
