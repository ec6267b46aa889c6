//! `coder_metadata`: what the interface shows about another resource.

use std::collections::HashSet;

use super::{check, fill_unknown, new_id};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::record::Record;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type, Value};

/// The resource.
pub struct Metadata;

#[tonic::async_trait]
impl Record for Metadata {
    fn name(&self) -> &'static str {
        "coder_metadata"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional("daily_cost", Type::Number).doc("What it counts against a quota."),
            Attribute::optional("hide", Type::Bool).doc("Whether the interface leaves it out."),
            Attribute::optional("icon", Type::String)
                .doc("URL or path of a picture.")
                .check(Check::Text(check::icon)),
            Attribute::id(),
            Attribute::required("resource_id", Type::String).doc("The resource it is about."),
        ];
        let item = Block::new(
            vec![
                Attribute::computed("is_null", Type::Bool).doc("Whether the item has no value."),
                Attribute::required("key", Type::String).doc("The label; unique in the resource."),
                Attribute::optional("sensitive", Type::Bool)
                    .doc("Whether the value is shown on request only.")
                    .default(false),
                Attribute::optional("value", Type::String).doc("The value."),
            ],
            Vec::new(),
        );
        Schema {
            version: 1,
            block: Block::new(attributes, vec![NestedBlock::list("item", item)]),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        let mut keys = HashSet::new();
        for (_, item) in config.objects("item") {
            if let Some(key) = item.str("key")
                && !keys.insert(key)
            {
                let detail = format!("{key:?} occurs twice; give each item a key of its own");
                found.push(Diagnostic::error("duplicate key in \"item\"", detail));
            }
        }
    }

    async fn create(&self, planned: &mut Object) -> Result<(), Diagnostic> {
        fill_unknown(planned, "id", new_id);
        for item in planned.objects_mut("item") {
            let is_null = *item.get("value") == Value::Null;
            item.set("is_null", is_null);
        }
        Ok(())
    }
}
