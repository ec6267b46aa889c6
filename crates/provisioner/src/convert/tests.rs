//! From plans and states to resources, on recorded JSON.

use super::*;
use crate::resources::{AgentAuth, DisplayApp};
use crate::state::{from_plan, from_state};
use serde_json::{Value, json};

const DOT: &str = r#"
"[root] coder_agent.main (expand)" [label = "coder_agent.main"]
"[root] terraform_data.ws (expand)" -> "[root] coder_agent.main (expand)"
"[root] coder_metadata.ws (expand)" -> "[root] terraform_data.ws (expand)"
"[root] coder_app.web (expand)" -> "[root] coder_agent.main (expand)"
"[root] coder_script.late (expand)" -> "[root] coder_agent.main (expand)"
"[root] coder_env.extra (expand)" -> "[root] coder_agent.main (expand)"
"[root] coder_devcontainer.dev (expand)" -> "[root] coder_agent.main (expand)"
"[root] coder_app.inner (expand)" -> "[root] coder_devcontainer.dev (expand)"
"#;

/// A state of these resources: (type, name, attributes), `data.` before the type of data sources.
fn state(resources: &[(&str, &str, Value)]) -> Vec<Instance> {
    let list: Vec<Value> = resources
        .iter()
        .map(|(kind, name, attributes)| {
            let (mode, kind) = match kind.strip_prefix("data.") {
                Some(kind) => ("data", kind),
                None => ("managed", *kind),
            };
            json!({"mode": mode, "type": kind, "name": name,
                   "instances": [{"attributes": attributes}]})
        })
        .collect();
    let bytes = json!({"version": 4, "resources": list}).to_string();
    from_state(bytes.as_bytes()).unwrap()
}

fn convert_state(resources: &[(&str, &str, Value)]) -> Result<Converted, ConvertError> {
    convert(&state(resources), DOT, &[], From::State)
}

fn agent() -> (&'static str, &'static str, Value) {
    (
        "coder_agent",
        "main",
        json!({"id": "A", "os": "linux", "arch": "amd64", "auth": "token", "token": "T",
               "env": {"OWN": "own"}, "connection_timeout": 60}),
    )
}

fn host() -> (&'static str, &'static str, Value) {
    ("terraform_data", "ws", json!({"id": "H"}))
}

fn the_agent(c: &Converted) -> &crate::resources::Agent {
    let mut agents = c.resources.iter().flat_map(|r| &r.agents);
    let first = agents.next().unwrap();
    assert!(agents.next().is_none());
    first
}

#[test]
fn an_agent_runs_in_the_nearest_resource_that_needs_it() {
    let c = convert_state(&[agent(), host()]).unwrap();
    assert_eq!(c.resources.len(), 1);
    assert_eq!(c.resources[0].kind, "terraform_data");
    let a = the_agent(&c);
    assert_eq!(a.auth, AgentAuth::Token("T".into()));
    assert_eq!(a.connection_timeout_seconds, 60);
    use DisplayApp::{PortForwardingHelper, SshHelper, Vscode, WebTerminal};
    assert_eq!(
        a.display_apps,
        [Vscode, SshHelper, PortForwardingHelper, WebTerminal]
    );
}

#[test]
fn an_agent_without_a_resource_is_left_out() {
    let c = convert_state(&[agent()]).unwrap();
    assert!(c.resources.is_empty());
}

#[test]
fn bad_agent_names_are_refused() {
    let long = "a".repeat(65);
    for name in ["my_agent", "a--b", "-a", long.as_str()] {
        let got = convert_state(&[("coder_agent", name, json!({}))]);
        assert_eq!(got, Err(ConvertError::AgentName { name: name.into() }));
    }
    let got = convert_state(&[
        ("coder_agent", "Dev", json!({})),
        ("coder_agent", "dev", json!({})),
    ]);
    assert!(matches!(got, Err(ConvertError::DuplicateAgent { .. })));
}

#[test]
fn startup_and_shutdown_scripts_become_scripts() {
    let mut a = agent();
    a.2["startup_script"] = json!("up");
    a.2["startup_script_behavior"] = json!("blocking");
    a.2["shutdown_script"] = json!("down");
    let late = (
        "coder_script",
        "late",
        json!({"agent_id": "A", "display_name": "Late", "script": "x", "run_on_start": true}),
    );
    let c = convert_state(&[a, late, host()]).unwrap();
    let scripts = &the_agent(&c).scripts;
    let names: Vec<_> = scripts.iter().map(|s| s.display_name.as_str()).collect();
    assert_eq!(names, ["Startup Script", "Shutdown Script", "Late"]);
    assert_eq!(scripts[0].icon, "/emojis/25b6-fe0f.png");
    assert_eq!(scripts[0].log_path, "coder-startup-script.log");
    assert!(scripts[0].start_blocks_login && scripts[0].run_on_start);
    assert!(scripts[1].run_on_stop && !scripts[1].run_on_start);
}

#[test]
fn an_old_template_that_logs_in_late_blocks() {
    let mut a = agent();
    a.2["login_before_ready"] = json!(false);
    let c = convert_state(&[a, host()]).unwrap();
    assert_eq!(the_agent(&c).startup_script_behavior, "blocking");
}

#[test]
fn environment_is_merged_as_each_block_asks() {
    let env = |name: &'static str, var: &str, value: &str, how: &str| {
        (
            "coder_env",
            name,
            json!({"agent_id": "A", "name": var, "value": value, "merge_strategy": how}),
        )
    };
    let c = convert_state(&[
        agent(),
        host(),
        env("a", "OWN", "other", "replace"),
        env("b", "NEW", "1", "replace"),
        env("c", "NEW", "2", "replace"),
        env("d", "PATH", "x", "append"),
        env("e", "PATH", "y", "append"),
        env("f", "PATH", "z", "prepend"),
    ])
    .unwrap();
    let env_of = &the_agent(&c).environment;
    assert_eq!(env_of["OWN"], "own");
    assert_eq!(env_of["NEW"], "2");
    assert_eq!(env_of["PATH"], "z:x:y");
    assert_eq!(
        c.resources.iter().filter(|r| r.kind == "coder_env").count(),
        6
    );
    let got = convert_state(&[agent(), host(), env("a", "OWN", "x", "error")]);
    assert!(matches!(got, Err(ConvertError::EnvConflict { .. })));
}

#[test]
fn apps_have_unique_plain_slugs() {
    let app = |name: &'static str, slug: &str| {
        (
            "coder_app",
            name,
            json!({"id": name, "agent_id": "A", "slug": slug}),
        )
    };
    let c = convert_state(&[agent(), host(), app("web", "web-1")]).unwrap();
    let got = &the_agent(&c).apps[0];
    assert_eq!(
        (got.display_name.as_str(), got.share.as_str()),
        ("web-1", "owner")
    );
    assert_eq!(got.open_in, "slim-window");
    for slug in ["Web", "a--b", "a_b"] {
        let got = convert_state(&[agent(), app("web", slug)]);
        assert!(matches!(got, Err(ConvertError::AppSlug { .. })), "{slug}");
    }
    let got = convert_state(&[agent(), app("a", "x"), app("b", "x")]);
    assert_eq!(got, Err(ConvertError::DuplicateSlug { slug: "x".into() }));
}

#[test]
fn parts_of_a_devcontainer_go_to_its_agent() {
    let c = convert_state(&[
        agent(),
        host(),
        (
            "coder_devcontainer",
            "dev",
            json!({"id": "D", "agent_id": "A", "workspace_folder": "/w", "subagent_id": "S"}),
        ),
        (
            "coder_app",
            "inner",
            json!({"agent_id": "S", "slug": "inner"}),
        ),
    ])
    .unwrap();
    let a = the_agent(&c);
    assert!(a.apps.is_empty());
    assert_eq!(a.devcontainers[0].apps[0].slug, "inner");
}

#[test]
fn metadata_describes_what_its_id_names() {
    let c = convert_state(&[
        agent(),
        host(),
        ("null_resource", "other", json!({"id": "O"})),
        (
            "coder_metadata",
            "ws",
            json!({"resource_id": "O", "hide": true, "icon": "/i.svg", "daily_cost": 5,
                   "item": [{"key": "k", "value": "v", "sensitive": true, "is_null": false}]}),
        ),
    ])
    .unwrap();
    let other = c.resources.iter().find(|r| r.name == "other").unwrap();
    assert!(other.hide && other.icon == "/i.svg" && other.metadata[0].sensitive);
    assert_eq!(c.daily_cost(), 5);
    assert!(!c.resources.iter().any(|r| r.kind == "coder_metadata"));
}

#[test]
fn two_metadata_blocks_for_one_resource_are_refused() {
    let m = |name: &'static str| ("coder_metadata", name, json!({"resource_id": "H"}));
    let got = convert_state(&[host(), m("a"), m("b")]);
    assert!(matches!(got, Err(ConvertError::DuplicateMetadata { .. })));
}

#[test]
fn a_cloud_machine_identifies_its_agent() {
    let mut a = agent();
    a.2["auth"] = json!("aws-instance-identity");
    let dot = "\"aws_instance.m\" -> \"coder_agent.main\"\n";
    let m = (
        "aws_instance",
        "m",
        json!({"id": "i-1", "instance_type": "t3"}),
    );
    let c = convert(&state(&[a.clone(), m.clone()]), dot, &[], From::State).unwrap();
    assert_eq!(
        c.resources[0].agents[0].auth,
        AgentAuth::InstanceId("i-1".into())
    );
    assert_eq!(c.resources[0].instance_type, "t3");
    let named = (
        "coder_agent_instance",
        "x",
        json!({"agent_id": "A", "instance_id": "mine"}),
    );
    let c = convert(&state(&[a, m, named.clone()]), dot, &[], From::State).unwrap();
    assert_eq!(
        c.resources[0].agents[0].auth,
        AgentAuth::InstanceId("mine".into())
    );
    let c = convert_state(&[agent(), host(), named]).unwrap();
    assert_eq!(the_agent(&c).auth, AgentAuth::Token("T".into()));
}

#[test]
fn in_a_plan_the_graph_says_what_belongs_together() {
    let resource = |kind: &str, name: &str, values: Value| {
        json!({"address": format!("{kind}.{name}"), "mode": "managed", "type": kind,
               "name": name, "values": values})
    };
    let data = json!({"address": "data.coder_parameter.size", "mode": "data",
        "type": "coder_parameter", "name": "size",
        "values": {"name": "size", "type": "string", "optional": true, "default": "s"}});
    let plan = json!({
        "planned_values": {"root_module": {"resources": [
            resource("coder_agent", "main", json!({"os": "linux"})),
            resource("terraform_data", "ws", json!({})),
            resource("coder_app", "web", json!({"slug": "web"})),
            resource("coder_metadata", "ws", json!({"item": [{"key": "k", "value": "v"}]})),
        ]}},
        "prior_state": {"values": {"root_module": {"resources": [
            data, resource("terraform_data", "gone", json!({})),
        ]}}},
        "configuration": {"root_module": {"module_calls": {"m": {"module": {"resources": [
            {"mode": "managed", "type": "coder_ai_task"}]}}}}},
    });
    let c = convert(&from_plan(&plan), DOT, &[], From::Plan).unwrap();
    let names: Vec<_> = c.resources.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(
        names,
        ["ws"],
        "what is in the state but not planned is going away"
    );
    assert_eq!(the_agent(&c).apps[0].slug, "web");
    assert_eq!(c.resources[0].metadata[0].key, "k");
    assert_eq!(c.parameters[0].default_value, "s");
    assert!(crate::state::configured(&plan, "coder_ai_task"));
}

#[test]
fn parameters_keep_file_order_and_bounds() {
    let p = |name: &'static str, extra: Value| {
        let mut v = json!({"name": name, "optional": false});
        v.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        ("data.coder_parameter", name, v)
    };
    let all = state(&[
        p(
            "b",
            json!({"type": "number", "default": "2", "optional": true,
            "validation": [{"min": 0, "max": 5, "min_disabled": true, "max_disabled": false}]}),
        ),
        p("a", json!({"option": [{"name": "S", "value": "s"}]})),
    ]);
    let order = [
        "data.coder_parameter.b".to_owned(),
        "data.coder_parameter.a".to_owned(),
    ];
    let c = convert(&all, "", &order, From::State).unwrap();
    let b = &c.parameters[0];
    assert_eq!(
        (b.name.as_str(), b.form_type.as_str(), b.required),
        ("b", "input", false)
    );
    assert_eq!((b.validation_min, b.validation_max), (None, Some(5)));
    let a = &c.parameters[1];
    assert_eq!((a.form_type.as_str(), a.required), ("radio", true));
    let twice = [
        p("x", json!({})),
        ("data.coder_parameter", "y", json!({"name": "x"})),
    ];
    let e = convert_state(&twice).unwrap_err().to_string();
    assert!(e.contains("must be unique") && e.contains("\"x\""), "{e}");
}

#[test]
fn presets_may_name_unknown_parameters_but_not_each_others_names() {
    let preset = |block: &'static str, v: Value| ("data.coder_workspace_preset", block, v);
    let c = convert_state(&[preset(
        "p",
        json!({"name": "Big", "default": true, "parameters": {"size": "l"},
               "prebuilds": [{"instances": 2, "expiration_policy": [{"ttl": 3600}],
                 "scheduling": [{"timezone": "UTC",
                   "schedule": [{"cron": "* 8-18 * * 1-5", "instances": 5}]}]}]}),
    )])
    .unwrap();
    assert_eq!(c.warnings.len(), 1);
    let prebuilds = c.presets[0].prebuilds.as_ref().unwrap();
    assert_eq!(prebuilds.schedule[0].instances, 5);
    assert_eq!(prebuilds.expiration_ttl_seconds, 3600);
    let got = convert_state(&[
        preset("p", json!({"name": "Big"})),
        preset("q", json!({"name": "Big"})),
    ]);
    assert!(matches!(got, Err(ConvertError::DuplicatePreset { .. })));
    let got = convert_state(&[
        preset("p", json!({"name": "A", "default": true})),
        preset("q", json!({"name": "B", "default": true})),
    ]);
    assert!(matches!(
        got,
        Err(ConvertError::SeveralDefaultPresets { .. })
    ));
}

#[test]
fn external_services_are_named_once_and_needed_if_any_block_needs_them() {
    let c = convert_state(&[
        (
            "data.coder_external_auth",
            "a",
            json!({"id": "github", "optional": true}),
        ),
        ("data.coder_external_auth", "b", json!({"id": "github"})),
        ("data.coder_git_auth", "c", json!({"id": "gitlab"})),
    ])
    .unwrap();
    let ids: Vec<_> = c
        .external_auth_providers
        .iter()
        .map(|p| (p.id.as_str(), p.optional))
        .collect();
    assert_eq!(ids, [("github", false), ("gitlab", false)]);
}

#[test]
fn a_task_is_shown_by_an_app_of_the_build() {
    let app = (
        "coder_app",
        "web",
        json!({"id": "P", "agent_id": "A", "slug": "web"}),
    );
    let task =
        |name: &'static str, app: &str| ("coder_ai_task", name, json!({"id": "K", "app_id": app}));
    let c = convert_state(&[agent(), host(), app.clone(), task("t", "P")]).unwrap();
    assert_eq!(c.ai_tasks[0].app_id, "P");
    let got = convert_state(&[agent(), host(), app.clone(), task("t", "nope")]);
    assert!(matches!(got, Err(ConvertError::TaskApp { .. })));
    let got = convert_state(&[agent(), host(), app, task("t", "P"), task("u", "P")]);
    assert!(matches!(got, Err(ConvertError::SeveralTasks { count: 2 })));
}

#[test]
fn an_agent_started_by_hand_hangs_on_the_block_that_says_so() {
    let dot = "\"coder_external_agent.x\" -> \"coder_agent.main\"\n";
    let x = ("coder_external_agent", "x", json!({"agent_id": "A"}));
    let c = convert(&state(&[agent(), x]), dot, &[], From::State).unwrap();
    assert!(c.has_external_agents);
    assert_eq!(c.resources[0].agents.len(), 1);
}
