//! What an image with the label `devcontainer.metadata` needs to be run where there is no docker: the merged
//! configuration, scripts for a POSIX shell, and what a pod has to be given (builder §1.13).
//!
//! | module | what it is for |
//! |---|---|
//! | [`shell`] | variables as those of a shell, quoting |
//! | [`scripts`] | hooks and environment as scripts |
//! | [`run_args`] | docker's flags, as far as a pod has something like them |
//! | [`pod`] | what a pod has to be given |
//! | [`properties`] | what becomes of each property |
//!
//! INVARIANT: variables are rewritten, never replaced: what they mean is known where the container runs. What is asked
//! for and not honoured is a warning. Pure, as all of this crate.

pub mod pod;
pub mod properties;
pub mod run_args;
pub mod scripts;
pub mod shell;

use crate::config::Compat;
use crate::json::{Object, Value};
use crate::merge::{Merged, merge};
use crate::metadata::{Entry, LABEL, Origin, read_label};

use shell::Variables;

/// The label with what a configuration says and `devcontainer.metadata` has no place for. The name is that of the
/// service that wrote it first, so that its images can still be read.
pub const CONFIG_LABEL: &str = "com.deepspacecartel.devcontainer-builder.config";

/// Where a project is in the container when nobody says so.
const DEFAULT_WORKSPACE_FOLDER: &str = "/workspaces/${localWorkspaceFolderBasename}";

/// What is known of an image.
#[derive(Debug, Clone, Copy)]
pub struct Image<'a> {
    /// The label [`LABEL`].
    pub metadata: Option<&'a str>,
    /// The label [`CONFIG_LABEL`].
    pub config: Option<&'a str>,
    /// Its user; empty for root.
    pub user: &'a str,
}

/// An image that was not made by a Dev Container build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMetadata {
    /// It has no label.
    #[error("has no label {LABEL}; it was not built as a Dev Container image")]
    Missing,
    /// Its label cannot be read.
    #[error("has a label {LABEL} that is no JSON array or object")]
    Malformed,
}

/// All that is to be said about an image, as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The merged configuration.
    pub configuration: Object,
    /// A script, or `null`, for each hook.
    pub lifecycle_scripts: Object,
    /// Scripts that set the environment, or `null`.
    pub env_scripts: Object,
    /// What a pod has to be given.
    pub runtime: Object,
    /// Which variables are used, and where.
    pub variables: Vec<Value>,
    /// Extensions and settings of VS Code.
    pub vscode: Object,
    /// What is asked for and not honoured.
    pub warnings: Vec<String>,
    /// The entries of the label as they are.
    pub metadata: Vec<Value>,
}

/// Who an entry of a label is from: the Feature that it names, else the configuration.
pub fn source(entry: &Object) -> &str {
    let id = entry.get("id").and_then(Value::as_str);
    id.filter(|id| !id.is_empty())
        .unwrap_or("devcontainer.json")
}

/// Works all of it out.
pub fn describe(image: Image<'_>) -> Result<Description, NoMetadata> {
    let text = match (image.metadata.filter(|text| !text.is_empty()), image.config) {
        (Some(text), _) => text,
        // A build whose sources say nothing at all leaves the second label only.
        (None, Some(_)) => "[]",
        (None, None) => return Err(NoMetadata::Missing),
    };
    let metadata = match Value::parse(text) {
        Ok(Value::Array(items)) => items,
        Ok(one @ Value::Object(_)) => vec![one],
        _ => return Err(NoMetadata::Malformed),
    };
    let (labels, found) = read_label(text, Compat::Strict);
    let mut warnings: Vec<String> = found.iter().map(ToString::to_string).collect();
    let config = read_config(image.config, &mut warnings);
    let entries: Vec<Entry> = labels
        .into_iter()
        .enumerate()
        .map(|(index, raw)| Entry {
            origin: Origin::Image {
                index,
                feature: Some(source(&raw).to_owned()),
            },
            effective: raw.clone(),
            raw,
        })
        .collect();
    let merged = merge(&Object::new(), &entries);
    let mut variables = Variables::default();
    for entry in &entries {
        variables.find(&entry.raw, source(&entry.raw));
    }
    variables.find(&config, "devcontainer.json");
    let run_args = run_args::RunArgs::read(config.get("runArgs"), &mut warnings);
    let lifecycle_scripts = scripts::lifecycle(&entries, &config, &mut warnings);
    let env_scripts = scripts::environment(&merged, &run_args, &mut warnings);
    let runtime = pod::runtime(&merged, &run_args, &config, image.user, &mut warnings);
    warnings.extend(properties::warnings(&merged, &config, &entries));
    warnings.extend(variables.host_warning());
    Ok(Description {
        configuration: configuration(&merged, &config),
        vscode: vscode(&merged),
        variables: variables.to_values(),
        lifecycle_scripts,
        env_scripts,
        runtime,
        warnings,
        metadata,
    })
}

fn read_config(label: Option<&str>, warnings: &mut Vec<String>) -> Object {
    let Some(text) = label else {
        warnings.push(format!(
            "the image has no label {CONFIG_LABEL}: workspaceFolder, runArgs and initializeCommand are not known"
        ));
        return Object::new();
    };
    match Value::parse(text) {
        Ok(Value::Object(config)) => config,
        _ => {
            warnings.push(format!(
                "the image's label {CONFIG_LABEL} is no JSON object and is not used"
            ));
            Object::new()
        }
    }
}

fn configuration(merged: &Merged, config: &Object) -> Object {
    let mut configuration = merged.value.clone();
    for key in properties::IN_CONFIG_LABEL {
        if let Some(value) = config.get(key) {
            configuration.insert(key.to_owned(), value.clone());
        }
    }
    let folder = configuration.entry("workspaceFolder".to_owned());
    folder.or_insert_with(|| DEFAULT_WORKSPACE_FOLDER.into());
    configuration
}

/// Extensions once each, in the spelling that came first; `-name` takes one away again. Settings key by key, the last.
fn vscode(merged: &Merged) -> Object {
    let tools = merged
        .value
        .get("customizations")
        .and_then(Value::as_object);
    let said = tools.and_then(|tools| tools.get("vscode")?.as_array());
    let mut extensions: Vec<String> = Vec::new();
    let mut settings = Object::new();
    for one in said.unwrap_or_default().iter().filter_map(Value::as_object) {
        let list = one.get("extensions").and_then(Value::as_array);
        for name in list.unwrap_or_default().iter().filter_map(Value::as_str) {
            let same = |known: &String, name: &str| known.eq_ignore_ascii_case(name);
            match name.strip_prefix('-') {
                Some(gone) => extensions.retain(|known| !same(known, gone)),
                None if extensions.iter().any(|known| same(known, name)) => {}
                None => extensions.push(name.to_owned()),
            }
        }
        let own = one.get("settings").and_then(Value::as_object);
        settings.extend(own.cloned().unwrap_or_default());
    }
    let extensions: Vec<Value> = extensions.into_iter().map(Value::from).collect();
    Object::from_iter([
        ("extensions".to_owned(), extensions.into()),
        ("settings".to_owned(), settings.into()),
    ])
}

#[cfg(test)]
mod tests;
