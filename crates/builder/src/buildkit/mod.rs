//! A client of BuildKit's gRPC API.
//!
//! | module | what it is for |
//! |---|---|
//! | [`endpoint`] | where BuildKit is and how to get there: TCP, TLS with client certificates, Unix socket |
//! | [`client`] | the connection, and whether BuildKit is ready |
//! | [`session`] | what BuildKit asks of us during a build: files, credentials, secrets |
//! | [`build`] | one build: solves put together by the caller, then one export |
//! | [`export`] | what becomes of the image: pushed, or written to a file |
//! | [`graph`] | vertices that are put on top of what the Dockerfile frontend made |
//! | [`cache`] | where layers are taken from and brought to |
//! | [`progress`] | what happens meanwhile |
//! | [`lines`] | the same as lines for people |
//! | [`error`] | what went wrong, by what the caller can do about it |
//!
//! Absent on purpose: no `docker`, no `buildx`, no program is run. Nothing outside the folders that a session was given
//! is ever sent, no symbolic link is followed, and nothing is written but the one archive that was asked for.

pub mod build;
pub mod cache;
pub mod client;
pub mod endpoint;
pub mod error;
pub mod export;
pub mod graph;
pub mod lines;
pub mod progress;
pub mod session;

pub use build::{Build, Gateway};
pub use cache::Cache;
pub use client::Client;
pub use endpoint::Endpoint;
pub use error::BuildError;
pub use export::Export;
pub use lines::Lines;
pub use progress::Event;

/// Generated from `proto/`.
#[allow(clippy::all, clippy::unwrap_used, missing_docs)]
pub(crate) mod wire {
    pub mod pb {
        include!("../gen/pb.rs");
    }
    pub mod fsutil {
        pub mod types {
            include!("../gen/fsutil.types.rs");
        }
    }
    pub mod google {
        pub mod rpc {
            include!("../gen/google.rpc.rs");
        }
    }
    pub mod grpc {
        pub mod health {
            pub mod v1 {
                include!("../gen/grpc.health.v1.rs");
            }
        }
    }
    pub mod moby {
        pub mod buildkit {
            pub mod v1 {
                include!("../gen/moby.buildkit.v1.rs");
                pub mod frontend {
                    include!("../gen/moby.buildkit.v1.frontend.rs");
                }
            }
            pub mod secrets {
                pub mod v1 {
                    include!("../gen/moby.buildkit.secrets.v1.rs");
                }
            }
        }
        pub mod filesync {
            pub mod v1 {
                include!("../gen/moby.filesync.v1.rs");
            }
        }
    }
}
