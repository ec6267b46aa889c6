//! The small services of a session: the archive of an image, credentials, secrets and whether we are still there.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use futures_util::stream;
use tonic::{Request, Response, Status, Streaming};

use super::super::wire::grpc::health::v1 as health;
use super::super::wire::moby::buildkit::secrets::v1 as secrets;
use super::super::wire::moby::filesync::v1 as filesync;
use super::Offer;

/// Takes the archive of an image, if one was asked for.
pub(super) struct Archive(pub(super) Option<Arc<File>>);

#[tonic::async_trait]
impl filesync::file_send_server::FileSend for Archive {
    type DiffCopyStream = stream::Empty<Result<filesync::BytesMessage, Status>>;

    async fn diff_copy(
        &self,
        request: Request<Streaming<filesync::BytesMessage>>,
    ) -> Result<Response<Self::DiffCopyStream>, Status> {
        let file = self.0.as_deref();
        let mut file = file.ok_or_else(|| Status::permission_denied("no file was asked for"))?;
        let mut parts = request.into_inner();
        while let Some(part) = parts.message().await? {
            let written = file.write_all(&part.data);
            written
                .map_err(|io| Status::internal(format!("the archive cannot be written: {io}")))?;
        }
        Ok(Response::new(stream::empty()))
    }
}

/// Gives credentials of registries.
pub(super) struct Logins(pub(super) Arc<Offer>);

#[tonic::async_trait]
impl filesync::auth_server::Auth for Logins {
    async fn credentials(
        &self,
        request: Request<filesync::CredentialsRequest>,
    ) -> Result<Response<filesync::CredentialsResponse>, Status> {
        let login = (self.0.logins)(request.into_inner().host).await;
        // Without credentials BuildKit calls the registry as nobody.
        let answer = login.map(|login| filesync::CredentialsResponse {
            username: login.user,
            secret: login.password.reveal().to_owned(),
        });
        Ok(Response::new(answer.unwrap_or_default()))
    }
}

/// Gives secrets.
pub(super) struct Secrets(pub(super) Arc<Offer>);

#[tonic::async_trait]
impl secrets::secrets_server::Secrets for Secrets {
    async fn get_secret(
        &self,
        request: Request<secrets::GetSecretRequest>,
    ) -> Result<Response<secrets::GetSecretResponse>, Status> {
        let id = request.into_inner().id;
        let secret = self.0.secrets.get(&id);
        let secret = secret
            .ok_or_else(|| Status::not_found(format!("the build was given no secret `{id}`")))?;
        let data = secret.reveal().as_bytes().to_vec();
        Ok(Response::new(secrets::GetSecretResponse { data }))
    }
}

/// Says that the session is alive.
pub(super) struct Health;

#[tonic::async_trait]
impl health::health_server::Health for Health {
    async fn check(
        &self,
        _: Request<health::HealthCheckRequest>,
    ) -> Result<Response<health::HealthCheckResponse>, Status> {
        let status = health::health_check_response::ServingStatus::Serving as i32;
        Ok(Response::new(health::HealthCheckResponse { status }))
    }
}
