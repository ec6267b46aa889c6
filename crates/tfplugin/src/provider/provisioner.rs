//! `coder_provisioner`: the platform that Terraform runs on, in Go's names, which templates know.

use super::new_id;
use crate::diagnostics::Diagnostic;
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Schema};
use crate::value::{Object, Type};

/// The data source.
pub struct Provisioner;

/// An operating system's name in Go.
pub(crate) fn go_os(name: &str) -> &str {
    match name {
        "macos" => "darwin",
        name => name,
    }
}

/// An architecture's name in Go; 32-bit ARM is `armv7`, as agents call it.
pub(crate) fn go_arch(name: &str) -> &str {
    match name {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "arm" => "armv7",
        "x86" => "386",
        name => name,
    }
}

#[tonic::async_trait]
impl DataSource for Provisioner {
    fn name(&self) -> &'static str {
        "coder_provisioner"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::computed("arch", Type::String).doc("The architecture."),
            Attribute::id(),
            Attribute::computed("os", Type::String).doc("The operating system."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, Vec::new()),
        }
    }

    async fn read(&self, _config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        state.set("id", new_id());
        state.set("os", go_os(std::env::consts::OS));
        state.set("arch", go_arch(std::env::consts::ARCH));
        Ok(())
    }
}
