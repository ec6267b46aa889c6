//! Notification settings and the inbox. Must not render texts.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::null_as_empty;

/// Whether sending is paused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationsSettings {
    pub notifier_paused: bool,
}

/// One kind of notification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationTemplate {
    pub id: Uuid,
    pub name: String,
    pub title_template: String,
    pub body_template: String,
    pub actions: String,
    pub group: String,
    pub method: String,
    pub kind: String,
    pub enabled_by_default: bool,
}

/// Ways to deliver, and the default one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationMethodsResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub available: Vec<String>,
    pub default: String,
}

/// A kind that the person has switched on or off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationPreference {
    pub id: Uuid,
    pub disabled: bool,
    pub updated_at: DateTime<Utc>,
}

/// Sets how one kind is delivered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateNotificationTemplateMethod {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
}

/// Switches kinds off (`true`) or on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateUserNotificationPreferences {
    #[serde(deserialize_with = "null_as_empty")]
    pub template_disabled_map: BTreeMap<String, bool>,
}

/// One message in the inbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxNotification {
    pub id: Uuid,
    pub user_id: Uuid,
    pub template_id: Uuid,
    #[serde(deserialize_with = "null_as_empty")]
    pub targets: Vec<Uuid>,
    pub title: String,
    pub content: String,
    pub icon: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub actions: Vec<InboxNotificationAction>,
    pub read_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
}

/// A link under a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxNotificationAction {
    pub label: String,
    pub url: String,
}

/// A new message and the count of unread ones, as the inbox stream sends it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GetInboxNotificationResponse {
    pub notification: InboxNotification,
    pub unread_count: i64,
}

/// A page of the inbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListInboxNotificationsResponse {
    #[serde(deserialize_with = "null_as_empty")]
    pub notifications: Vec<InboxNotification>,
    pub unread_count: i64,
}

/// Marks a message read or unread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateInboxNotificationReadStatusRequest {
    pub is_read: bool,
}

/// The message after the change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpdateInboxNotificationReadStatusResponse {
    pub notification: InboxNotification,
    pub unread_count: i64,
}
