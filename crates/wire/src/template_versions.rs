//! Versions of templates: import, parameters, variables, presets, dry runs. Must not evaluate
//! anything.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    HIDDEN, MatchedProvisioners, MinimalUser, ProvisionerJob, WorkspaceBuildParameter, is_false,
    null_as_empty,
};

/// Imports an uploaded archive as a version. `storage_method` and `provisioner` are plain words so
/// that the server can name the bad field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateTemplateVersionRequest {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_id: Option<Uuid>,
    pub storage_method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_id: Option<Uuid>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub example_id: String,
    pub provisioner: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub tags: BTreeMap<String, String>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub user_variable_values: Vec<VariableValue>,
}

/// A value for a template variable.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct VariableValue {
    pub name: String,
    pub value: String,
}

impl std::fmt::Debug for VariableValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VariableValue")
            .field("name", &self.name)
            .field("value", &HIDDEN)
            .finish()
    }
}

/// A version of a template.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateVersion {
    pub id: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub name: String,
    pub message: String,
    pub job: ProvisionerJob,
    pub readme: String,
    pub created_by: MinimalUser,
    pub archived: bool,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_provisioners: Option<MatchedProvisioners>,
}

/// Renames a version or changes its message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatchTemplateVersionRequest {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A service that the template wants linked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateVersionExternalAuth {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub display_name: String,
    pub display_icon: String,
    pub authenticate_url: String,
    pub authenticated: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// A parameter that the template declares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateVersionParameter {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub display_name: String,
    pub description: String,
    pub description_plaintext: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub form_type: String,
    pub mutable: bool,
    pub default_value: String,
    pub icon: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub options: Vec<TemplateVersionParameterOption>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub validation_error: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub validation_regex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_min: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_max: Option<i32>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub validation_monotonic: String,
    pub required: bool,
    pub ephemeral: bool,
}

/// One choice of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateVersionParameterOption {
    pub name: String,
    pub description: String,
    pub value: String,
    pub icon: String,
}

/// A variable that the template declares; sensitive values are empty.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateVersionVariable {
    pub name: String,
    pub description: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub value: String,
    pub default_value: String,
    pub required: bool,
    pub sensitive: bool,
}

impl std::fmt::Debug for TemplateVersionVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TemplateVersionVariable")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("kind", &self.kind)
            .field("value", &HIDDEN)
            .field("default_value", &self.default_value)
            .field("required", &self.required)
            .field("sensitive", &self.sensitive)
            .finish()
    }
}

/// A named set of parameter values. Stock sends these keys capitalised.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preset {
    #[serde(rename = "ID")]
    pub id: Uuid,
    #[serde(rename = "Name")]
    pub name: String,
    #[serde(rename = "Parameters", deserialize_with = "null_as_empty")]
    pub parameters: Vec<PresetParameter>,
    #[serde(rename = "Default")]
    pub default: bool,
}

/// One value of a preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PresetParameter {
    #[serde(rename = "Name")]
    pub name: String,
    #[serde(rename = "Value")]
    pub value: String,
}

/// Plans a workspace without making it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CreateTemplateVersionDryRunRequest {
    pub workspace_name: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub rich_parameter_values: Vec<WorkspaceBuildParameter>,
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_empty"
    )]
    pub user_variable_values: Vec<VariableValue>,
}
