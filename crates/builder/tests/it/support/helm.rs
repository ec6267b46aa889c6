//! The real helm, with the chart of the service.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize as _;
use serde_json::{Value, json};

/// What helm made of the chart.
pub struct Rendered(pub Vec<Value>);

pub fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/charts/devcontainer-builder")
}

/// Runs helm without anything of whoever runs the tests.
pub fn helm(args: &[&str], env: &[(&str, &str)]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("helm");
    command.env_clear().envs(env.iter().copied());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", home.path());
    let run = command.args(args).output();
    run.expect("helm has to be on PATH: `./dev test` installs it")
}

fn template(chart: &Path, release: &str, values: &[&Value], more: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    let mut args = vec!["template".to_owned(), release.to_owned()];
    args.push(chart.display().to_string());
    args.extend(["--namespace", "builds"].map(str::to_owned));
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    for (index, values) in values.iter().enumerate() {
        let file = dir.path().join(format!("{index}.json"));
        std::fs::write(&file, values.to_string()).unwrap();
        args.extend(["--values".to_owned(), file.display().to_string()]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    helm(&args, &[])
}

/// What is installed with these values.
pub fn render(release: &str, values: &Value) -> Rendered {
    render_chart(&chart(), release, values, &[])
}

/// The same with a chart that may be another, and more arguments.
pub fn render_chart(chart: &Path, release: &str, values: &Value, more: &[&str]) -> Rendered {
    let output = template(chart, release, &[values], more);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{values}: {error}");
    read(&String::from_utf8(output.stdout).unwrap())
}

/// What an upgrade that reuses the values installs over a release of another chart, with these values of that chart and of
/// whoever installed it. The API that is asked is at this address.
pub fn upgrade(release: &str, chart_values: &Value, own: &Value, api: &str) -> Rendered {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("releases.json");
    let before = json!([{
        "name": release, "namespace": "builds", "version": 1, "manifest": "",
        "info": { "status": "deployed" },
        "chart": {
            "metadata": { "name": "devcontainer-builder", "version": "0.0.9", "apiVersion": "v2" },
            "values": chart_values,
        },
        "config": own,
    }]);
    std::fs::write(&file, before.to_string()).unwrap();
    let chart = chart();
    let mut args = vec!["upgrade", release, chart.to_str().unwrap()];
    args.extend([
        "--namespace",
        "builds",
        "--reuse-values",
        "--output",
        "json",
    ]);
    args.extend(["--dry-run=client", "--kube-apiserver", api]);
    let env = [
        ("HELM_DRIVER", "memory"),
        ("HELM_MEMORY_DRIVER_DATA", file.to_str().unwrap()),
    ];
    let output = helm(&args, &env);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let release: Value = serde_json::from_slice(&output.stdout).unwrap();
    read(release["manifest"].as_str().unwrap())
}

/// The documents of a text.
fn read(text: &str) -> Rendered {
    let documents = serde_yaml_ng::Deserializer::from_str(text);
    let all = documents.map(|document| Value::deserialize(document).unwrap());
    Rendered(all.filter(|value| !value.is_null()).collect())
}

/// Why nothing is installed with these values.
pub fn refused(values: &Value) -> String {
    let output = template(&chart(), "b", &[values], &[]);
    assert!(!output.status.success(), "{values} is taken");
    String::from_utf8(output.stderr).unwrap()
}

impl Rendered {
    pub fn find(&self, kind: &str, name: &str) -> Option<&Value> {
        let is_it = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
        self.0.iter().find(is_it)
    }

    pub fn get(&self, kind: &str, name: &str) -> &Value {
        self.find(kind, name)
            .unwrap_or_else(|| panic!("no {kind} {name}: {:?}", self.names()))
    }

    /// Kind and name of each.
    pub fn names(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name =
            |one: &Value| format!("{} {}", text(&one["kind"]), text(&one["metadata"]["name"]));
        self.0.iter().map(name).collect()
    }

    /// The pod of the service.
    pub fn pod(&self, name: &str) -> &Value {
        &self.get("Deployment", name)["spec"]["template"]
    }
}

/// The value of a container's variable.
pub fn variable<'a>(container: &'a Value, name: &str) -> Option<&'a str> {
    let all = container["env"].as_array().unwrap();
    let found = all.iter().find(|variable| variable["name"] == name)?;
    found["value"].as_str()
}
