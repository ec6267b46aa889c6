//! The gRPC methods of protocol 6, over any [`Provider`].
//!
//! Problems of a configuration are diagnostics in a good answer; only a caller that breaks the
//! protocol gets a gRPC error. Values never appear in errors made here: they may be secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use tonic::{Request, Response, Status};

use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::plugin::{Change, DataSource, Provider, Resource, Stored};
use crate::schema::{Block, Schema};
use crate::value::{Object, Value};
use crate::wire::tf;
use crate::{legacy, msgpack};

/// Answers Terraform.
pub struct Service {
    provider: Arc<dyn Provider>,
    block: Block,
    resources: BTreeMap<&'static str, (Schema, Box<dyn Resource>)>,
    data_sources: BTreeMap<&'static str, (Schema, Box<dyn DataSource>)>,
}

impl Service {
    /// Answers for this provider.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        let resources = provider.resources().into_iter();
        let data_sources = provider.data_sources().into_iter();
        Service {
            block: provider.block(),
            resources: resources.map(|r| (r.name(), (r.schema(), r))).collect(),
            data_sources: data_sources.map(|d| (d.name(), (d.schema(), d))).collect(),
            provider,
        }
    }

    fn resource(&self, name: &str) -> Result<(&Block, &dyn Resource), Status> {
        self.resources
            .get(name)
            .map(|(schema, resource)| (&schema.block, resource.as_ref()))
            .ok_or_else(|| Status::invalid_argument(format!("there is no resource {name:?}")))
    }

    fn data_source(&self, name: &str) -> Result<(&Block, &dyn DataSource), Status> {
        self.data_sources
            .get(name)
            .map(|(schema, data_source)| (&schema.block, data_source.as_ref()))
            .ok_or_else(|| Status::invalid_argument(format!("there is no data source {name:?}")))
    }
}

const CAPABILITIES: tf::ServerCapabilities = tf::ServerCapabilities {
    plan_destroy: false,
    get_provider_schema_optional: true,
    move_resource_state: false,
};

/// Reads the value of a block. `None` is a null, which stands for "does not exist".
fn decode(value: Option<&tf::DynamicValue>, block: &Block) -> Result<Option<Object>, Status> {
    let value = value.ok_or_else(|| Status::invalid_argument("a value is missing"))?;
    let decoded = if value.msgpack.is_empty() {
        serde_json::from_slice(&value.json)
            .map_err(|_| Status::invalid_argument("value is not valid json"))
            .and_then(|json| {
                Value::from_json(&json, &block.ty())
                    .map_err(|error| Status::invalid_argument(error.to_string()))
            })?
    } else {
        msgpack::decode(&value.msgpack, &block.ty())
            .map_err(|error| Status::invalid_argument(error.to_string()))?
    };
    match decoded {
        Value::Map(object) => Ok(Some(object)),
        Value::Null => Ok(None),
        _ => Err(Status::invalid_argument("value is not an object")),
    }
}

/// Reads the value of a block that must exist.
fn decode_object(value: Option<&tf::DynamicValue>, block: &Block) -> Result<Object, Status> {
    decode(value, block)?.ok_or_else(|| Status::invalid_argument("value is null"))
}

fn encode(value: &Value) -> Option<tf::DynamicValue> {
    Some(tf::DynamicValue {
        msgpack: msgpack::encode(value),
        json: Vec::new(),
    })
}

/// The value and the memory of a resource; a null and nothing when there is none.
fn encode_stored(stored: Option<Stored>) -> (Option<tf::DynamicValue>, Vec<u8>) {
    match stored {
        Some(Stored { state, private }) => (encode(&Value::Map(state)), private),
        None => (encode(&Value::Null), Vec::new()),
    }
}

fn errors(diagnostic: Diagnostic) -> Vec<tf::Diagnostic> {
    Diagnostics::from(diagnostic).to_wire()
}

#[tonic::async_trait]
impl tf::provider_server::Provider for Service {
    async fn get_metadata(
        &self,
        _request: Request<tf::get_metadata::Request>,
    ) -> Result<Response<tf::get_metadata::Response>, Status> {
        use tf::get_metadata::{DataSourceMetadata, ResourceMetadata};
        Ok(Response::new(tf::get_metadata::Response {
            server_capabilities: Some(CAPABILITIES),
            diagnostics: Vec::new(),
            data_sources: self
                .data_sources
                .keys()
                .map(|name| DataSourceMetadata {
                    type_name: (*name).to_owned(),
                })
                .collect(),
            resources: self
                .resources
                .keys()
                .map(|name| ResourceMetadata {
                    type_name: (*name).to_owned(),
                })
                .collect(),
        }))
    }

    async fn get_provider_schema(
        &self,
        _request: Request<tf::get_provider_schema::Request>,
    ) -> Result<Response<tf::get_provider_schema::Response>, Status> {
        let resources = self.resources.iter();
        let data_sources = self.data_sources.iter();
        Ok(Response::new(tf::get_provider_schema::Response {
            provider: Some(tf::Schema {
                version: 0,
                block: Some(self.block.to_wire(0, false)),
            }),
            resource_schemas: resources
                .map(|(name, (schema, _))| ((*name).to_owned(), schema.to_wire()))
                .collect(),
            data_source_schemas: data_sources
                .map(|(name, (schema, _))| ((*name).to_owned(), schema.to_wire()))
                .collect(),
            diagnostics: Vec::new(),
            server_capabilities: Some(CAPABILITIES),
        }))
    }

    async fn validate_provider_config(
        &self,
        request: Request<tf::validate_provider_config::Request>,
    ) -> Result<Response<tf::validate_provider_config::Response>, Status> {
        let config = decode_object(request.get_ref().config.as_ref(), &self.block)?;
        let mut found = Diagnostics::new();
        self.block.validate(&config, &mut found);
        Ok(Response::new(tf::validate_provider_config::Response {
            diagnostics: found.to_wire(),
        }))
    }

    async fn validate_resource_config(
        &self,
        request: Request<tf::validate_resource_config::Request>,
    ) -> Result<Response<tf::validate_resource_config::Response>, Status> {
        let request = request.get_ref();
        let (block, resource) = self.resource(&request.type_name)?;
        let config = decode_object(request.config.as_ref(), block)?;
        let mut found = Diagnostics::new();
        block.validate(&config, &mut found);
        let capabilities = request.client_capabilities.unwrap_or_default();
        if !capabilities.write_only_attributes_allowed {
            block.refuse_write_only(&config, &mut found);
        }
        resource.validate(&config, &mut found);
        Ok(Response::new(tf::validate_resource_config::Response {
            diagnostics: found.to_wire(),
        }))
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<tf::validate_data_resource_config::Request>,
    ) -> Result<Response<tf::validate_data_resource_config::Response>, Status> {
        let request = request.get_ref();
        let (block, data_source) = self.data_source(&request.type_name)?;
        let config = decode_object(request.config.as_ref(), block)?;
        let mut found = Diagnostics::new();
        block.validate(&config, &mut found);
        data_source.validate(&config, &mut found);
        Ok(Response::new(tf::validate_data_resource_config::Response {
            diagnostics: found.to_wire(),
        }))
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<tf::upgrade_resource_state::Request>,
    ) -> Result<Response<tf::upgrade_resource_state::Response>, Status> {
        let request = request.get_ref();
        let (block, _) = self.resource(&request.type_name)?;
        let json = request.raw_state.as_ref().map(|raw| raw.json.as_slice());
        let upgraded = serde_json::from_slice(json.unwrap_or_default())
            .map_err(|_| "it is not JSON".to_owned())
            .and_then(|json| Value::from_json(&json, &block.ty()).map_err(|e| e.to_string()));
        Ok(Response::new(match upgraded {
            Ok(state) => tf::upgrade_resource_state::Response {
                upgraded_state: encode(&state),
                diagnostics: Vec::new(),
            },
            Err(reason) => {
                let summary = format!("stored state of {} cannot be read", request.type_name);
                tf::upgrade_resource_state::Response {
                    upgraded_state: None,
                    diagnostics: errors(Diagnostic::error(summary, reason)),
                }
            }
        }))
    }

    async fn configure_provider(
        &self,
        request: Request<tf::configure_provider::Request>,
    ) -> Result<Response<tf::configure_provider::Response>, Status> {
        let config = decode_object(request.get_ref().config.as_ref(), &self.block)?;
        let diagnostics = match self.provider.configure(&config) {
            Ok(()) => Vec::new(),
            Err(problem) => errors(problem),
        };
        Ok(Response::new(tf::configure_provider::Response {
            diagnostics,
        }))
    }

    async fn read_resource(
        &self,
        request: Request<tf::read_resource::Request>,
    ) -> Result<Response<tf::read_resource::Response>, Status> {
        let request = request.into_inner();
        let (block, resource) = self.resource(&request.type_name)?;
        let mut found = Diagnostics::new();
        let stored = match decode(request.current_state.as_ref(), block)? {
            Some(state) => {
                let private = request.private;
                resource.read(Stored { state, private }, &mut found).await
            }
            None => None,
        };
        let (new_state, private) = encode_stored(stored);
        Ok(Response::new(tf::read_resource::Response {
            new_state,
            diagnostics: found.to_wire(),
            private,
        }))
    }

    async fn plan_resource_change(
        &self,
        request: Request<tf::plan_resource_change::Request>,
    ) -> Result<Response<tf::plan_resource_change::Response>, Status> {
        let request = request.into_inner();
        let (block, resource) = self.resource(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), block)?;
        let proposed = decode(request.proposed_new_state.as_ref(), block)?;
        let mut found = Diagnostics::new();
        let mut replace = Vec::new();
        let stored = match &proposed {
            // A destruction is as it is asked for, and nothing has to be remembered about its plan.
            None => None,
            Some(next) => {
                let change = Change {
                    prior: prior.as_ref(),
                    next: Some(next),
                    config: &decode_object(request.config.as_ref(), block)?,
                    private: &request.prior_private,
                };
                let planned = resource.plan(change, &mut found).await;
                replace = planned.replace;
                Some(planned.stored)
            }
        };
        let (planned_state, planned_private) = encode_stored(stored);
        Ok(Response::new(tf::plan_resource_change::Response {
            planned_state,
            requires_replace: replace.iter().map(Path::to_wire).collect(),
            planned_private,
            diagnostics: found.to_wire(),
            legacy_type_system: resource.has_legacy_plans(),
        }))
    }

    async fn apply_resource_change(
        &self,
        request: Request<tf::apply_resource_change::Request>,
    ) -> Result<Response<tf::apply_resource_change::Response>, Status> {
        let request = request.into_inner();
        let (block, resource) = self.resource(&request.type_name)?;
        let prior = decode(request.prior_state.as_ref(), block)?;
        let planned = decode(request.planned_state.as_ref(), block)?;
        let config = decode(request.config.as_ref(), block)?.unwrap_or_default();
        let change = Change {
            prior: prior.as_ref(),
            next: planned.as_ref(),
            config: &config,
            private: &request.planned_private,
        };
        let mut found = Diagnostics::new();
        let mut stored = resource.apply(change, &mut found).await;
        let unknown = stored.as_ref().and_then(|made| {
            let mut values = made.state.iter();
            values.find(|(_, value)| value.has_unknown())
        });
        if let Some((name, _)) = unknown {
            let summary = format!("{}: {name:?} is still unknown", request.type_name);
            let detail = "this is a bug of the provider; please report it";
            found.push(Diagnostic::error(summary, detail));
            stored = None;
        }
        let (new_state, private) = encode_stored(stored);
        Ok(Response::new(tf::apply_resource_change::Response {
            new_state,
            private,
            diagnostics: found.to_wire(),
            legacy_type_system: resource.has_legacy_plans(),
        }))
    }

    async fn import_resource_state(
        &self,
        request: Request<tf::import_resource_state::Request>,
    ) -> Result<Response<tf::import_resource_state::Response>, Status> {
        let request = request.into_inner();
        let (_, resource) = self.resource(&request.type_name)?;
        let mut found = Diagnostics::new();
        let imported = resource.import(&request.id, &mut found).await;
        let imported = imported.map(|stored| {
            let (state, private) = encode_stored(Some(stored));
            tf::import_resource_state::ImportedResource {
                type_name: request.type_name,
                state,
                private,
            }
        });
        Ok(Response::new(tf::import_resource_state::Response {
            imported_resources: imported.into_iter().collect(),
            diagnostics: found.to_wire(),
        }))
    }

    async fn read_data_source(
        &self,
        request: Request<tf::read_data_source::Request>,
    ) -> Result<Response<tf::read_data_source::Response>, Status> {
        let request = request.into_inner();
        let (block, data_source) = self.data_source(&request.type_name)?;
        let config = decode_object(request.config.as_ref(), block)?;
        let mut state = legacy::data_form(block, &config);
        Ok(Response::new(
            match data_source.read(&config, &mut state).await {
                Ok(()) => tf::read_data_source::Response {
                    state: encode(&Value::Map(state)),
                    diagnostics: Vec::new(),
                },
                Err(problem) => tf::read_data_source::Response {
                    state: None,
                    diagnostics: errors(problem),
                },
            },
        ))
    }

    async fn get_functions(
        &self,
        _request: Request<tf::get_functions::Request>,
    ) -> Result<Response<tf::get_functions::Response>, Status> {
        Ok(Response::new(tf::get_functions::Response::default()))
    }

    async fn stop_provider(
        &self,
        _request: Request<tf::stop_provider::Request>,
    ) -> Result<Response<tf::stop_provider::Response>, Status> {
        self.provider.stop();
        Ok(Response::new(tf::stop_provider::Response::default()))
    }
}
