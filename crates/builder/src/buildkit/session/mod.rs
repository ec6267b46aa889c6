//! What BuildKit asks of us during a build: files to read, an archive to write, credentials, secrets.
//!
//! A session is one call of the control API whose two streams of bytes carry a whole HTTP/2 connection. On that we are
//! the server. It ends when the [`Session`] is dropped.
//!
//! INVARIANT: BuildKit gets what is in [`Offer`] and nothing else, whatever it, or a frontend that it runs, asks for.

mod files;
mod pattern;
mod services;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;
use tonic::metadata::MetadataValue;
use tonic::transport::Server;
use tonic::{Request, Status};

use super::client::Client;
use super::error::BuildError;
use super::wire::grpc::health::v1::health_server::HealthServer;
use super::wire::moby::buildkit::secrets::v1::secrets_server::SecretsServer;
use super::wire::moby::buildkit::v1::BytesMessage;
use super::wire::moby::filesync::v1::auth_server::AuthServer;
use super::wire::moby::filesync::v1::file_send_server::FileSendServer;
use super::wire::moby::filesync::v1::file_sync_server::FileSyncServer;
use crate::oci::Credentials;
use crate::secret::Secret;

/// The methods that a session offers, as BuildKit names them.
const METHODS: [&str; 5] = [
    "/moby.filesync.v1.FileSync/DiffCopy",
    "/moby.filesync.v1.FileSend/DiffCopy",
    "/moby.filesync.v1.Auth/Credentials",
    "/moby.buildkit.secrets.v1.Secrets/GetSecret",
    "/grpc.health.v1.Health/Check",
];
/// What is under way between the two sides at most.
const BUFFER_BYTES: usize = 1 << 20;
/// The largest piece of it in one message.
const CHUNK_BYTES: usize = 32 << 10;

/// User and password for a registry. An empty user means that the password is an identity token.
#[derive(Debug, Clone)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password or token.
    pub password: Secret,
}

impl From<Credentials> for Login {
    fn from(credentials: Credentials) -> Self {
        let (user, password) = match credentials {
            Credentials::Basic { user, password } => (user, password),
            Credentials::IdentityToken(token) => (String::new(), token),
        };
        Self { user, password }
    }
}

/// Finds the credentials for a registry, named by host and port; Docker Hub is `registry-1.docker.io`.
pub type Logins = Arc<dyn Fn(String) -> BoxFuture<'static, Option<Login>> + Send + Sync>;

/// A folder that BuildKit may read.
#[derive(Debug, Clone)]
pub enum Folder {
    /// A folder of this machine.
    Disk(PathBuf),
    /// Files by their names, without folders.
    Memory(BTreeMap<String, Vec<u8>>),
}

/// All that BuildKit may ask for.
#[derive(Clone)]
pub struct Offer {
    /// Folders by name.
    pub folders: BTreeMap<String, Folder>,
    /// Credentials of registries.
    pub logins: Logins,
    /// Secrets by id.
    pub secrets: BTreeMap<String, Secret>,
    /// The time of each file that is sent, in seconds since 1970: the same for all, as a clone's files have none.
    pub epoch: i64,
    /// The largest folder that is sent, in bytes.
    pub max_folder_bytes: u64,
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer")
            .field("folders", &self.folders.keys())
            .field("secrets", &self.secrets.keys())
            .finish_non_exhaustive()
    }
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    id: String,
    tasks: Vec<JoinHandle<()>>,
}

impl Session {
    /// Opens a session. If an image is to be written, it goes to `archive`.
    pub async fn open(
        client: &Client,
        offer: Offer,
        archive: Option<Arc<File>>,
    ) -> Result<Self, BuildError> {
        let id = random_id();
        let (ours, theirs) = tokio::io::duplex(BUFFER_BYTES);
        let offer = Arc::new(offer);
        let services = Server::builder()
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(4 << 20)
            .add_service(FileSyncServer::new(files::Files(Arc::clone(&offer))))
            .add_service(FileSendServer::new(services::Archive(archive)))
            .add_service(AuthServer::new(services::Logins(Arc::clone(&offer))))
            .add_service(SecretsServer::new(services::Secrets(offer)))
            .add_service(HealthServer::new(services::Health));
        // One connection, and never another.
        let incoming =
            stream::once(async { Ok::<_, std::io::Error>(ours) }).chain(stream::pending());
        let server = tokio::spawn(async move {
            if let Err(error) = services.serve_with_incoming(incoming).await {
                tracing::debug!(%error, "a BuildKit session ended");
            }
        });
        let (reader, mut writer) = tokio::io::split(theirs);
        let mut tasks = vec![server];
        let out = stream::unfold(reader, |mut reader| async move {
            let mut buffer = vec![0; CHUNK_BYTES];
            let read = reader
                .read(&mut buffer)
                .await
                .ok()
                .filter(|read| *read > 0)?;
            buffer.truncate(read);
            Some((BytesMessage { data: buffer }, reader))
        });
        let mut request = Request::new(out);
        let headers = request.metadata_mut();
        let value = |text: &str| {
            MetadataValue::try_from(text).map_err(|error| BuildError::Other(error.to_string()))
        };
        headers.insert("x-docker-expose-session-uuid", value(&id)?);
        // BuildKit keeps what it was sent by this key and compares times and sizes only, so no two sessions share one.
        headers.insert("x-docker-expose-session-sharedkey", value(&id)?);
        headers.insert(
            "x-docker-expose-session-name",
            value("devcontainer-builder")?,
        );
        for method in METHODS {
            headers.append("x-docker-expose-session-grpc-method", value(method)?);
        }
        let mut control = client.control();
        let answer = control.session(request).await;
        let mut answer = match answer {
            Ok(answer) => answer.into_inner(),
            Err(status) => {
                tasks.iter().for_each(JoinHandle::abort);
                return Err(BuildError::from_status(&status, client));
            }
        };
        tasks.push(tokio::spawn(async move {
            while let Ok(Some(message)) = answer.message().await {
                if writer.write_all(&message.data).await.is_err() {
                    break;
                }
            }
        }));
        Ok(Self { id, tasks })
    }

    /// What identifies it.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// An id that nobody else has.
pub(super) fn random_id() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}

/// A stream of what is put into a channel.
fn receiving<T: Send + 'static>(
    from: tokio::sync::mpsc::Receiver<Result<T, Status>>,
) -> stream::BoxStream<'static, Result<T, Status>> {
    stream::unfold(
        from,
        |mut from| async move { Some((from.recv().await?, from)) },
    )
    .boxed()
}
