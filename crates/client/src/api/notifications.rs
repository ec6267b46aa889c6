//! Notifications of the whole deployment.

use coder_wire as wire;
use hyper::Method;

use crate::paths::api_path;
use crate::{Client, ClientError};

impl Client {
    /// Pauses notifications or lets them go on.
    pub async fn notification_settings_set(
        &self,
        settings: &wire::NotificationsSettings,
    ) -> Result<(), ClientError> {
        self.tell(
            Method::PUT,
            &api_path(&["notifications", "settings"]),
            settings,
        )
        .await
    }

    /// Sends the caller a notification.
    pub async fn notification_test(&self) -> Result<(), ClientError> {
        self.poke(Method::POST, &api_path(&["notifications", "test"]))
            .await
    }
}
