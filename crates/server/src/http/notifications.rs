//! The inbox, and which notifications users want.

use super::extract::{Body, UserPath, parse_id};
use super::reply::{Reply, ok};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use coder_wire as wire;
use serde::Deserialize;
use uuid::Uuid;

/// Whether notifications are paused.
pub async fn settings(
    State(app): State<App>,
    _: Caller,
) -> Result<Reply<wire::NotificationsSettings>, Fail> {
    app.notification_settings().await.map(ok)
}

/// Pauses notifications or lets them go on.
pub async fn set_settings(
    State(app): State<App>,
    caller: Caller,
    Body(request): Body<wire::NotificationsSettings>,
) -> Result<Reply<wire::NotificationsSettings>, Fail> {
    app.notification_settings_set(&caller, request)
        .await
        .map(ok)
}

/// Kinds of notification.
pub async fn templates(
    State(app): State<App>,
    _: Caller,
) -> Reply<Vec<wire::NotificationTemplate>> {
    ok(app.notification_templates())
}

/// How notifications can be delivered.
pub async fn dispatch_methods(_: Caller) -> Reply<wire::NotificationMethodsResponse> {
    ok(wire::NotificationMethodsResponse {
        available: vec!["inbox".to_owned()],
        default: "inbox".to_owned(),
    })
}

/// Which kinds a user has switched on or off.
pub async fn preferences(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
) -> Result<Reply<Option<Vec<wire::NotificationPreference>>>, Fail> {
    app.notification_preferences(&caller, &user).await.map(ok)
}

/// Switches kinds off or on.
pub async fn set_preferences(
    State(app): State<App>,
    caller: Caller,
    UserPath(user): UserPath,
    Body(request): Body<wire::UpdateUserNotificationPreferences>,
) -> Result<Reply<Option<Vec<wire::NotificationPreference>>>, Fail> {
    app.notification_preferences_set(&caller, &user, request)
        .await
        .map(ok)
}

/// Query of the inbox.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct InboxQuery {
    read_status: String,
    starting_before: Option<Uuid>,
}

/// A page of the caller's inbox.
pub async fn inbox(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<InboxQuery>,
) -> Result<Reply<wire::ListInboxNotificationsResponse>, Fail> {
    app.inbox_list(
        &caller,
        query.read_status == "unread",
        query.starting_before,
    )
    .await
    .map(ok)
}

/// Marks one message read or unread.
pub async fn mark(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Body(request): Body<wire::UpdateInboxNotificationReadStatusRequest>,
) -> Result<Reply<wire::UpdateInboxNotificationReadStatusResponse>, Fail> {
    app.inbox_mark(&caller, parse_id("id", &id)?, request.is_read)
        .await
        .map(ok)
}

/// Marks all messages read.
pub async fn mark_all(State(app): State<App>, caller: Caller) -> Result<StatusCode, Fail> {
    app.inbox_mark_all(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
