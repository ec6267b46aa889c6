//! What the import of a template version found: parameters, variables, presets and tags.

use crate::db::FromRow;
use crate::{Result, Store};
use coder_model::{PresetId, TemplateVersionId};
use std::collections::BTreeMap;
use tokio_postgres::Row;

/// A parameter that a version declares.
#[derive(Clone, Debug)]
pub struct ParameterRow {
    pub name: String,
    pub display_name: String,
    pub description: String,
    pub kind: String,
    pub form_type: String,
    pub mutable: bool,
    pub default_value: String,
    pub icon: String,
    /// `[{"name":…,"description":…,"value":…,"icon":…}]`.
    pub options: serde_json::Value,
    pub validation_regex: String,
    pub validation_min: Option<i32>,
    pub validation_max: Option<i32>,
    pub validation_error: String,
    pub validation_monotonic: String,
    pub required: bool,
    pub ephemeral: bool,
}

impl FromRow for ParameterRow {
    fn from_row(row: &Row) -> Self {
        Self {
            name: row.get(0),
            display_name: row.get(1),
            description: row.get(2),
            kind: row.get(3),
            form_type: row.get(4),
            mutable: row.get(5),
            default_value: row.get(6),
            icon: row.get(7),
            options: row.get(8),
            validation_regex: row.get(9),
            validation_min: row.get(10),
            validation_max: row.get(11),
            validation_error: row.get(12),
            validation_monotonic: row.get(13),
            required: row.get(14),
            ephemeral: row.get(15),
        }
    }
}

/// A variable that a version declares, with its value opened.
#[derive(Clone)]
pub struct VariableRow {
    pub name: String,
    pub description: String,
    pub kind: String,
    pub value: String,
    pub default_value: String,
    pub required: bool,
    pub sensitive: bool,
}

struct SealedVariable {
    name: String,
    description: String,
    kind: String,
    sealed: Vec<u8>,
    default_value: String,
    required: bool,
    sensitive: bool,
}

impl FromRow for SealedVariable {
    fn from_row(row: &Row) -> Self {
        Self {
            name: row.get(0),
            description: row.get(1),
            kind: row.get(2),
            sealed: row.get(3),
            default_value: row.get(4),
            required: row.get(5),
            sensitive: row.get(6),
        }
    }
}

/// A named set of parameter values.
#[derive(Clone, Debug)]
pub struct PresetRow {
    pub id: PresetId,
    pub template_version_id: TemplateVersionId,
    pub name: String,
    pub is_default: bool,
    /// `[{"name":…,"value":…}]`.
    pub parameters: serde_json::Value,
}

impl FromRow for PresetRow {
    fn from_row(row: &Row) -> Self {
        Self {
            id: PresetId(row.get(0)),
            template_version_id: TemplateVersionId(row.get(1)),
            name: row.get(2),
            is_default: row.get(3),
            parameters: row.get(4),
        }
    }
}

impl PresetRow {
    /// The values by parameter.
    pub fn values(&self) -> BTreeMap<String, String> {
        let text = |value: &serde_json::Value, key: &str| {
            value
                .get(key)
                .and_then(|v| v.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        let items = self
            .parameters
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        items
            .iter()
            .map(|item| (text(item, "name"), text(item, "value")))
            .collect()
    }
}

const VARIABLE_COLUMNS: &str =
    "x.name, x.description, x.type, x.value_sealed, x.default_value, x.required, x.sensitive";

impl Store {
    /// The parameters that a version declares, in their order. Whoever may read the version may call.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn version_parameters(&self, id: TemplateVersionId) -> Result<Vec<ParameterRow>> {
        self.rows(
            "select name, display_name, description, type, form_type, mutable, default_value, icon, options, validation_regex, \
             validation_min, validation_max, validation_error, validation_monotonic, required, ephemeral \
             from template_version_parameters where template_version_id = $1 order by display_order, position, name",
            &[&id.0],
        )
        .await
    }

    /// The variables that a version declares, with their values. What is sensitive is the caller's to hide.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a value cannot be opened.
    pub async fn version_variables(&self, id: TemplateVersionId) -> Result<Vec<VariableRow>> {
        let sealed: Vec<SealedVariable> = self
            .rows(
                &format!(
                    "select {VARIABLE_COLUMNS} from template_version_variables x where x.template_version_id = $1 order by x.position, x.name"
                ),
                &[&id.0],
            )
            .await?;
        sealed
            .into_iter()
            .map(|v| {
                Ok(VariableRow {
                    value: self.keys.open_text(&v.sealed)?,
                    name: v.name,
                    description: v.description,
                    kind: v.kind,
                    default_value: v.default_value,
                    required: v.required,
                    sensitive: v.sensitive,
                })
            })
            .collect()
    }

    /// The presets of a version, in their order.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn version_presets(&self, id: TemplateVersionId) -> Result<Vec<PresetRow>> {
        self.rows(
            "select id, template_version_id, name, is_default, parameters from template_version_presets \
             where template_version_id = $1 order by position, name",
            &[&id.0],
        )
        .await
    }

    /// The tags that builds of a version need of a daemon, besides those of its import.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn version_workspace_tags(
        &self,
        id: TemplateVersionId,
    ) -> Result<Vec<(String, String)>> {
        struct Tag(String, String);
        impl FromRow for Tag {
            fn from_row(row: &Row) -> Self {
                Self(row.get(0), row.get(1))
            }
        }
        let tags: Vec<Tag> =
            self.rows("select key, value from template_version_workspace_tags where template_version_id = $1", &[&id.0]).await?;
        Ok(tags
            .into_iter()
            .map(|Tag(key, value)| (key, value))
            .collect())
    }
}
