//! What users are told in their inbox, and which of it they want to hear.

use super::{App, Caller};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::{Action, Object, Resource};
use coder_store::{InboxFilter, InboxRow, NewMessage, UserRow};
use coder_wire as wire;
use uuid::{Uuid, uuid};

/// The setting that pauses all notifications.
const PAUSED: &str = "notifications_paused";

/// Kinds of notification that this server sends, with stock's ids.
pub struct Notice {
    id: Uuid,
    group: &'static str,
    name: &'static str,
    title: &'static str,
    body: &'static str,
}

/// Somebody made an account.
pub const USER_CREATED: Notice = Notice {
    id: uuid!("4e19c0ac-94e1-4532-9515-d1801aa283b2"),
    group: "User Events",
    name: "User account created",
    title: "User account \"{{.name}}\" created",
    body: "{{.initiator}} created the account {{.name}}.",
};

/// Somebody deleted an account.
pub const USER_DELETED: Notice = Notice {
    id: uuid!("f44d9314-ad03-4bc8-95d0-5cad491da6b6"),
    group: "User Events",
    name: "User account deleted",
    title: "User account \"{{.name}}\" deleted",
    body: "{{.initiator}} deleted the account {{.name}}.",
};

/// Somebody suspended an account.
pub const USER_SUSPENDED: Notice = Notice {
    id: uuid!("b02ddd82-4733-4d02-a2d7-c36f3598997d"),
    group: "User Events",
    name: "User account suspended",
    title: "User account \"{{.name}}\" suspended",
    body: "{{.initiator}} suspended the account {{.name}}.",
};

/// Somebody let an account in again.
pub const USER_ACTIVATED: Notice = Notice {
    id: uuid!("9f5af851-8408-4e73-a7a1-c6502ba46689"),
    group: "User Events",
    name: "User account activated",
    title: "User account \"{{.name}}\" activated",
    body: "{{.initiator}} activated the account {{.name}}.",
};

/// Somebody wants to see whether messages arrive.
const TEST: Notice = Notice {
    id: uuid!("c425f63e-716a-4bf4-ae24-78348f706c3f"),
    group: "Notification Events",
    name: "Test Notification",
    title: "A test notification",
    body: "This is a test notification, sent by {{.initiator}}.",
};

/// All kinds that this server sends.
const NOTICES: &[&Notice] = &[
    &USER_CREATED,
    &USER_DELETED,
    &USER_SUSPENDED,
    &USER_ACTIVATED,
    &TEST,
];

impl Notice {
    fn render(text: &str, name: &str, initiator: &str) -> String {
        text.replace("{{.name}}", name)
            .replace("{{.initiator}}", initiator)
    }
}

pub(super) fn inbox(row: InboxRow) -> wire::InboxNotification {
    wire::InboxNotification {
        id: row.id,
        user_id: row.user_id.0,
        template_id: row.template_id,
        targets: row.targets,
        title: row.title,
        content: row.content,
        icon: row.icon,
        actions: serde_json::from_value(row.actions).unwrap_or_default(),
        read_at: row.read_at,
        created_at: row.created_at,
    }
}

impl App {
    /// Tells user admins and owners about a change to an account, except the one who made it.
    pub async fn notify_about_user(&self, caller: &Caller, notice: &Notice, subject: &UserRow) {
        if self.notifications_paused().await.unwrap_or(true) {
            return;
        }
        let title = Notice::render(notice.title, &subject.username, &caller.user.username);
        let body = Notice::render(notice.body, &subject.username, &caller.user.username);
        let roles = ["owner", "user-admin"];
        let message = NewMessage {
            template: notice.id,
            target: subject.id.0,
            title: &title,
            content: &body,
            now: Utc::now(),
        };
        let told = self
            .store
            .inbox_insert_for_roles(&roles, Some(caller.user.id), &message)
            .await;
        if let Err(error) = told {
            tracing::warn!(error = %error, "a notification could not be delivered");
        }
    }

    /// Sends the caller a message, so that they see whether messages arrive.
    ///
    /// # Errors
    /// [`crate::Kind::Forbidden`]; [`crate::Kind::Invalid`] while notifications are paused.
    pub async fn notification_test(&self, caller: &Caller) -> Result<(), Fail> {
        if !caller
            .actor
            .can(Action::Update, &Object::site(Resource::DeploymentConfig))
        {
            return Err(Fail::forbidden());
        }
        if self.notifications_paused().await? {
            return Err(Fail::invalid("Notifications are paused.")
                .with_detail("Let them go on with: coder notifications resume"));
        }
        let name = &caller.user.username;
        let message = NewMessage {
            template: TEST.id,
            target: caller.user.id.0,
            title: &Notice::render(TEST.title, name, name),
            content: &Notice::render(TEST.body, name, name),
            now: Utc::now(),
        };
        Ok(self.store.inbox_insert(caller.user.id, &message).await?)
    }

    async fn notifications_paused(&self) -> Result<bool, Fail> {
        Ok(self.store.site_config(PAUSED).await?.as_deref() == Some("true"))
    }

    /// Whether notifications are paused.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn notification_settings(&self) -> Result<wire::NotificationsSettings, Fail> {
        Ok(wire::NotificationsSettings {
            notifier_paused: self.notifications_paused().await?,
        })
    }

    /// Pauses notifications or lets them go on.
    ///
    /// # Errors
    /// [`crate::Kind::Forbidden`].
    pub async fn notification_settings_set(
        &self,
        caller: &Caller,
        settings: wire::NotificationsSettings,
    ) -> Result<wire::NotificationsSettings, Fail> {
        if !caller
            .actor
            .can(Action::Update, &Object::site(Resource::DeploymentConfig))
        {
            return Err(Fail::forbidden());
        }
        self.store
            .site_config_set(PAUSED, &settings.notifier_paused.to_string())
            .await?;
        Ok(settings)
    }

    /// Kinds of notification that this server sends.
    pub fn notification_templates(&self) -> Vec<wire::NotificationTemplate> {
        let template = |notice: &&Notice| wire::NotificationTemplate {
            id: notice.id,
            name: notice.name.to_owned(),
            title_template: notice.title.to_owned(),
            body_template: notice.body.to_owned(),
            actions: "[]".to_owned(),
            group: notice.group.to_owned(),
            method: String::new(),
            kind: "system".to_owned(),
            enabled_by_default: true,
        };
        NOTICES.iter().map(template).collect()
    }

    /// Which kinds a user has switched on or off; `None` when they never chose.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`] when the caller may not read it.
    pub async fn notification_preferences(
        &self,
        caller: &Caller,
        user: &UserRow,
    ) -> Result<Option<Vec<wire::NotificationPreference>>, Fail> {
        let rows = self
            .store
            .notification_preferences(&caller.actor, user.id)
            .await?;
        let preference = |row: coder_store::PreferenceRow| wire::NotificationPreference {
            id: row.template_id,
            disabled: row.disabled,
            updated_at: row.updated_at,
        };
        Ok((!rows.is_empty()).then(|| rows.into_iter().map(preference).collect()))
    }

    /// Switches kinds off (`true`) or on.
    ///
    /// # Errors
    /// Names the id that is no kind of notification.
    pub async fn notification_preferences_set(
        &self,
        caller: &Caller,
        user: &UserRow,
        request: wire::UpdateUserNotificationPreferences,
    ) -> Result<Option<Vec<wire::NotificationPreference>>, Fail> {
        let mut chosen = Vec::new();
        for (id, disabled) in request.template_disabled_map {
            let known = id
                .parse::<Uuid>()
                .ok()
                .filter(|id| NOTICES.iter().any(|notice| notice.id == *id));
            let id = known.ok_or_else(|| {
                Fail::field(
                    "Validation failed.",
                    "template_disabled_map",
                    format!("{id:?} is not a kind of notification"),
                )
            })?;
            chosen.push((id, disabled));
        }
        self.store
            .notification_preferences_set(&caller.actor, user.id, &chosen, Utc::now())
            .await?;
        self.notification_preferences(caller, user).await
    }

    /// A page of the caller's inbox.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_list(
        &self,
        caller: &Caller,
        filter: &InboxFilter,
        before: Option<Uuid>,
    ) -> Result<wire::ListInboxNotificationsResponse, Fail> {
        let (rows, unread_count) = self
            .store
            .inbox_list(&caller.actor, caller.user.id, filter, before)
            .await?;
        Ok(wire::ListInboxNotificationsResponse {
            notifications: rows.into_iter().map(inbox).collect(),
            unread_count,
        })
    }

    /// Marks one of the caller's messages read or unread.
    ///
    /// # Errors
    /// [`crate::Kind::NotFound`].
    pub async fn inbox_mark(
        &self,
        caller: &Caller,
        id: Uuid,
        read: bool,
    ) -> Result<wire::UpdateInboxNotificationReadStatusResponse, Fail> {
        let (row, unread_count) = self
            .store
            .inbox_mark(&caller.actor, caller.user.id, id, read.then(Utc::now))
            .await?;
        Ok(wire::UpdateInboxNotificationReadStatusResponse {
            notification: inbox(row),
            unread_count,
        })
    }

    /// Marks all of the caller's messages read.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn inbox_mark_all(&self, caller: &Caller) -> Result<(), Fail> {
        Ok(self
            .store
            .inbox_mark_all(&caller.actor, caller.user.id, Utc::now())
            .await?)
    }
}
