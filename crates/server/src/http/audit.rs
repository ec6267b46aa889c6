//! The record of changes.

use super::extract::Listing;
use super::reply::{Reply, ok};
use crate::app::{App, Caller};
use crate::fail::Fail;
use axum::extract::State;
use coder_wire as wire;

/// A page of the record.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    listing: Listing,
) -> Result<Reply<wire::AuditLogResponse>, Fail> {
    app.audit_list(&caller, &listing).await.map(ok)
}
