//! Terraform runs with the provider.

use serde_json::{Value, json};

use crate::support::Project;

const WORKSPACE: &str = r#"
data "coder_workspace" "me" {}

resource "coder_agent" "main" {
  count = data.coder_workspace.me.start_count
  os    = "linux"
  arch  = "amd64"
  metadata {
    key      = "cpu"
    script   = "coder stat cpu"
    interval = 10
  }
}

resource "coder_app" "code" {
  count    = data.coder_workspace.me.start_count
  agent_id = coder_agent.main[0].id
  slug     = "SLUG"
  url      = "http://localhost:13337"
  healthcheck {
    url       = "http://localhost:13337/healthz"
    interval  = 5
    threshold = 6
  }
}
"#;

#[test]
fn a_workspace_starts_changes_and_stops() {
    let config = |slug| WORKSPACE.replace("SLUG", slug);
    let project = Project::new(&config("code")).env(
        "CODER_AGENT_SCRIPT_linux_amd64",
        "get ${ACCESS_URL}bin as ${AUTH_TYPE}",
    );
    project.run_ok(&["apply", "-auto-approve", "-input=false", "-no-color"]);
    let agent = project.values("coder_agent.main[0]");
    assert_eq!(
        agent["init_script"],
        "get https://dev.example.com/bin as token"
    );
    assert_eq!(agent["display_apps"][0]["vscode"], true);
    assert_eq!(agent["metadata"][0]["display_name"], "");
    let app = project.values("coder_app.code[0]");
    assert_eq!(app["agent_id"], agent["id"]);
    assert_eq!(app["share"], "owner");
    assert_eq!(app["order"], Value::Null);

    // The same again is no change; another slug makes a new app and leaves the agent alone.
    let again = project.run(&["plan", "-detailed-exitcode", "-input=false", "-no-color"]);
    assert_eq!(again.status.code(), Some(0));
    project.write(&config("code2"));
    let plan = project.run_ok(&["plan", "-input=false", "-no-color"]);
    assert!(
        plan.contains("coder_app.code[0] must be replaced"),
        "{plan}"
    );
    assert!(
        plan.contains("1 to add, 0 to change, 1 to destroy"),
        "{plan}"
    );

    let project = project.env("CODER_WORKSPACE_TRANSITION", "stop");
    let stop = project.run_ok(&["apply", "-auto-approve", "-input=false", "-no-color"]);
    assert!(stop.contains("0 added, 0 changed, 2 destroyed"), "{stop}");
}

#[test]
fn a_bad_value_is_refused_where_it_is_written() {
    let project = Project::new(
        r#"
resource "coder_agent" "main" {
  os   = "linux"
  arch = "mips"
}
data "coder_parameter" "size" {
  name = "size"
  type = "number"
  option {
    name  = "Small"
    value = 1
    icon  = "::x"
  }
}
"#,
    );
    let output = project.run(&["plan", "-input=false", "-json"]);
    assert!(!output.status.success());
    let mut places: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["@level"] == "error")
        .map(|line| {
            let diagnostic = &line["diagnostic"];
            json!([diagnostic["address"], diagnostic["snippet"]["code"]])
        })
        .collect();
    places.sort_by_key(Value::to_string);
    let expected = [
        json!(["coder_agent.main", "  arch = \"mips\""]),
        json!(["data.coder_parameter.size", "    icon  = \"::x\""]),
    ];
    assert_eq!(places, expected);
}

#[test]
fn parameters_are_read_from_the_environment_under_the_hash_of_their_name() {
    let project = Project::new(
        r#"
data "coder_parameter" "region" {
  name = "region"
  option {
    name  = "Europe"
    value = "eu"
  }
  option {
    name  = "America"
    value = "us"
  }
}
output "region" {
  value = data.coder_parameter.region.value
}
"#,
    )
    .env(
        // sha256 of "region"
        "CODER_PARAMETER_c697d2981bf416569a16cfbcdec1542b5398f3cc77d2b905819aa99c46ecf6f6",
        "us",
    );
    project.run_ok(&["apply", "-auto-approve", "-input=false", "-no-color"]);
    assert_eq!(project.run_ok(&["output", "-raw", "region"]), "us");
    let parameter = project.values("data.coder_parameter.region");
    assert_eq!(parameter["form_type"], "radio");
    assert_eq!(parameter["optional"], false);
    assert_eq!(parameter["validation"], json!([]));
}

#[test]
fn a_run_leaves_no_socket_behind() {
    let project = Project::new(&WORKSPACE.replace("SLUG", "code"));
    project.run_ok(&["plan", "-input=false", "-no-color"]);
    let left: Vec<_> = walk(&project.dir.path().join("tmp"));
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
