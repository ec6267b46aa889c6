//! What finished jobs leave: resources, agents, states, parameters and variables.

use crate::support::{Fixture, at, no_tags};
use coder_model::{Actor, BuildId, TemplateVersionId};
use coder_store::{
    BuildResult, Claim, ImportResult, JobFailure, JobTimingRow, NewAgent, NewAgentMetadata, NewApp,
    NewParameter, NewPreset, NewResource, NewResourceMetadata, NewScript, NewVariable,
};
use serde_json::json;
use uuid::Uuid;

static TEST: Actor = Actor::system("test");

fn resources() -> Vec<NewResource> {
    let agent = NewAgent {
        name: "main".into(),
        token: Some("6b1f6a1e-8c50-4d83-9b9b-1df3e5f7a001".into()),
        architecture: "amd64".into(),
        operating_system: "linux".into(),
        environment: [("A".to_owned(), "1".to_owned())].into(),
        display_apps: vec!["vscode".into(), "web_terminal".into()],
        metadata: vec![NewAgentMetadata {
            key: "up".into(),
            script: "uptime".into(),
            interval_seconds: 5,
            ..Default::default()
        }],
        apps: vec![
            NewApp {
                slug: "web".into(),
                healthcheck_url: "http://localhost/".into(),
                ..Default::default()
            },
            NewApp {
                slug: "plain".into(),
                ..Default::default()
            },
        ],
        scripts: vec![NewScript {
            display_name: "Startup Script".into(),
            script: "true".into(),
            run_on_start: true,
            ..Default::default()
        }],
        ..Default::default()
    };
    let metadata = vec![
        NewResourceMetadata {
            key: "size".into(),
            value: "s".into(),
            sensitive: false,
        },
        NewResourceMetadata {
            key: "secret".into(),
            value: "s3cret".into(),
            sensitive: true,
        },
    ];
    vec![
        NewResource {
            kind: "terraform_data".into(),
            name: "ws".into(),
            metadata,
            agents: vec![agent],
            ..Default::default()
        },
        NewResource {
            kind: "null_resource".into(),
            name: "other".into(),
            ..Default::default()
        },
    ]
}

fn timing() -> JobTimingRow {
    JobTimingRow {
        job_id: coder_model::JobId(Uuid::nil()),
        started_at: at(1),
        ended_at: at(2),
        stage: "apply".into(),
        source: "null".into(),
        action: "create".into(),
        resource: "null_resource.other".into(),
    }
}

#[tokio::test]
async fn a_finished_start_leaves_resources_a_deadline_and_no_secret_in_the_clear() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let (job, build, workspace) = f.build("start", Some(3_600_000)).await;
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    let result = BuildResult {
        state: Some(b"{\"token\":\"t0ken\"}".to_vec()),
        resources: resources(),
        daily_cost: 3,
        timings: vec![timing()],
        ..Default::default()
    };
    assert!(
        f.store
            .job_complete_build(
                Claim {
                    job,
                    worker: daemon
                },
                BuildId(build),
                &result,
                None,
                at(10)
            )
            .await
            .unwrap()
    );
    let deadline = f
        .text(&format!(
            "select extract(epoch from deadline)::bigint from workspace_builds where id = '{build}'"
        ))
        .await;
    assert_eq!(deadline, (at(10).timestamp() + 3600).to_string());
    let used = f.text(&format!("select extract(epoch from last_used_at)::bigint from workspaces where id = '{workspace}'")).await;
    assert_eq!(used, at(10).timestamp().to_string());
    assert_eq!(
        f.text("select string_agg(name, ',' order by position) from workspace_resources")
            .await,
        "ws,other"
    );
    assert_eq!(
        f.text("select string_agg(health, ',' order by position) from workspace_apps")
            .await,
        "initializing,disabled"
    );
    assert_eq!(
        f.text("select display_apps::text || environment_variables from workspace_agents")
            .await,
        "{vscode,web_terminal}{\"A\": \"1\"}"
    );
    assert_eq!(f.text("select count(*) from workspace_agent_scripts s join workspace_agent_log_sources l on l.id = s.log_source_id").await, "1");
    assert_eq!(
        f.text("select interval_seconds from workspace_agent_metadata")
            .await,
        "5"
    );
    assert_eq!(f.text("select string_agg(key || '=' || value, ',' order by position) from workspace_resource_metadata").await, "size=s,secret=");
    assert_eq!(f.store.job_timing_list(job).await.unwrap().len(), 1);
    for table in [
        "workspace_builds",
        "workspace_agents",
        "workspace_resource_metadata",
    ] {
        let dump = f
            .text(&format!("select string_agg(t::text, '') from {table} t"))
            .await;
        for secret in ["s3cret", "t0ken", "6b1f6a1e"] {
            assert!(!dump.contains(secret), "{table} holds {secret}");
        }
    }
    let sealed: Vec<u8> = f
        .sql
        .query_one(
            "select value_sealed from workspace_resource_metadata where sensitive",
            &[],
        )
        .await
        .unwrap()
        .get(0);
    assert_eq!(f.store.keys().open_text(&sealed).unwrap(), "s3cret");
    assert_eq!(
        f.store.job_build(job).await.unwrap().state,
        b"{\"token\":\"t0ken\"}"
    );
}

#[tokio::test]
async fn what_a_finished_job_made_is_read_once_and_what_lives_on_each_time() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let (job, build, _) = f.build("start", None).await;
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    let seen = async || {
        let row = f.store.job_get(&TEST, job).await.unwrap();
        let mut all = f.store.resources_of_jobs(&[&row]).await.unwrap();
        all.remove(&job).unwrap_or_default()
    };
    assert!(
        seen().await.is_empty(),
        "nothing is kept of a job that runs"
    );
    let result = BuildResult {
        resources: resources(),
        ..Default::default()
    };
    let claim = Claim {
        job,
        worker: daemon,
    };
    let done = f
        .store
        .job_complete_build(claim, BuildId(build), &result, None, at(10));
    assert!(done.await.unwrap());
    for round in 0..2 {
        let made = seen().await;
        let names: Vec<_> = made.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["ws", "other"]);
        let metadata = made[0].metadata.iter().map(|m| (&*m.key, &*m.value));
        assert_eq!(
            metadata.collect::<Vec<_>>(),
            [("size", "s"), ("secret", "s3cret")]
        );
        let agent = &made[0].agents[0];
        assert_eq!(agent.scripts[0].display_name, "Startup Script");
        let health: Vec<_> = agent.apps.iter().map(|a| a.health.as_str()).collect();
        let first = ["initializing", "healthy"][round];
        assert_eq!(health, [first, "disabled"]);
        // The health of an app goes on; what only the job wrote is not asked for again.
        for change in [
            "update workspace_apps set health = 'healthy' where slug = 'web'",
            "update workspace_resources set name = 'changed'",
            "update workspace_agent_scripts set display_name = 'changed'",
            "delete from workspace_resource_metadata",
        ] {
            f.sql.execute(change, &[]).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_agent_that_lives_on_signs_in_for_the_newer_build_only() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    for _ in 0..2 {
        let (job, build, _) = f.build("start", None).await;
        f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
        let result = BuildResult {
            resources: resources(),
            ..Default::default()
        };
        assert!(
            f.store
                .job_complete_build(
                    Claim {
                        job,
                        worker: daemon
                    },
                    BuildId(build),
                    &result,
                    None,
                    at(10)
                )
                .await
                .unwrap()
        );
        let newest = format!(
            "select r.job_id = '{job}' from workspace_agents a join workspace_resources r on r.id = a.resource_id where a.auth_token_hash is not null"
        );
        assert_eq!(f.text(&newest).await, "t");
    }
    assert_eq!(
        f.text("select count(*) from workspace_agents where auth_token_hash is not null")
            .await,
        "1"
    );
}

#[tokio::test]
async fn a_failed_build_keeps_the_state_and_a_deleted_workspace_is_deleted() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let (job, build, workspace) = f.build("delete", None).await;
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    assert!(
        f.store
            .build_state_keep(job, b"while it runs", at(4))
            .await
            .unwrap()
    );
    assert_eq!(
        f.store.job_build(job).await.unwrap().state,
        b"while it runs"
    );
    let failure = JobFailure {
        error: "terraform apply: no".into(),
        ..Default::default()
    };
    let failed = BuildResult {
        state: Some(b"half".to_vec()),
        failure: Some(failure),
        ..Default::default()
    };
    assert!(
        f.store
            .job_complete_build(
                Claim {
                    job,
                    worker: daemon
                },
                BuildId(build),
                &failed,
                None,
                at(5)
            )
            .await
            .unwrap()
    );
    assert_eq!(f.store.job_build(job).await.unwrap().state, b"half");
    assert_eq!(
        f.text(&format!(
            "select deleted from workspaces where id = '{workspace}'"
        ))
        .await,
        "f"
    );

    let (job, build, workspace) = f.build("delete", None).await;
    f.store.job_claim(daemon, at(6)).await.unwrap().unwrap();
    let done = BuildResult {
        state: Some(vec![]),
        ..Default::default()
    };
    assert!(
        f.store
            .job_complete_build(
                Claim {
                    job,
                    worker: daemon
                },
                BuildId(build),
                &done,
                None,
                at(7)
            )
            .await
            .unwrap()
    );
    assert_eq!(
        f.text(&format!(
            "select deleted from workspaces where id = '{workspace}'"
        ))
        .await,
        "t"
    );
    assert_eq!(
        f.store.job_get(&TEST, job).await.unwrap().status,
        "succeeded"
    );
}

#[tokio::test]
async fn a_state_that_comes_late_does_not_replace_a_newer_builds() {
    let f = Fixture::new().await;
    let (job, _, workspace) = f.build("start", None).await;
    let next = f.plain_job(at(9)).await;
    f.sql
        .batch_execute(&format!(
            "insert into workspace_builds (id, workspace_id, template_version_id, build_number, transition, reason, initiator_id, job_id, \
             created_at, updated_at) select gen_random_uuid(), workspace_id, template_version_id, 2, 'stop', 'initiator', initiator_id, \
             '{next}', now(), now() from workspace_builds where workspace_id = '{workspace}'"
        ))
        .await
        .unwrap();
    assert!(
        !f.store
            .build_state_keep(job, b"late", at(10))
            .await
            .unwrap()
    );
    assert!(
        f.store
            .build_state_keep(next, b"now", at(10))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn an_import_leaves_what_the_template_declares() {
    let f = Fixture::new().await;
    let (_, daemon) = f.daemon(no_tags()).await;
    let version = Uuid::new_v4();
    let job = f
        .job(
            "template_version_import",
            json!({ "template_version_id": version }),
            no_tags(),
            at(1),
        )
        .await;
    let given = f.store.keys().seal(b"hunter2").unwrap();
    f.sql
        .execute(
            "insert into template_versions (id, organization_id, created_at, updated_at, name, job_id, created_by) \
             values ($1, $2, now(), now(), 'v1', $3, $4)",
            &[&version, &f.organization.0, &job.0, &f.user.0],
        )
        .await
        .unwrap();
    f.sql
        .execute(
            "insert into template_version_variables (template_version_id, name, type, value_sealed, required, sensitive) \
             values ($1, 'password', '', $2, false, false)",
            &[&version, &given],
        )
        .await
        .unwrap();
    f.store.job_claim(daemon, at(2)).await.unwrap().unwrap();
    let id = TemplateVersionId(version);
    assert_eq!(
        f.store.job_variables_for_import(id).await.unwrap(),
        [("password".to_owned(), "hunter2".to_owned())]
    );
    let variable = |name: &str, value: &str, default: &str, required| NewVariable {
        name: name.into(),
        kind: "string".into(),
        value: value.into(),
        default_value: default.into(),
        required,
        sensitive: required,
        ..Default::default()
    };
    let found = ImportResult {
        readme: "# Hello".into(),
        graph: "digraph {}".into(),
        external_auth_providers: json!([{"id": "github", "optional": true}]),
        parameters: ["size", "count"]
            .map(|name| NewParameter {
                name: name.into(),
                kind: "string".into(),
                options: json!([]),
                ..Default::default()
            })
            .into(),
        presets: vec![NewPreset {
            name: "big".into(),
            is_default: true,
            parameters: json!([{"name": "size", "value": "l"}]),
            ..Default::default()
        }],
        variables: vec![
            variable("password", "hunter2", "", true),
            variable("where", "/tmp", "/tmp", false),
        ],
        workspace_tags: vec![("zone".into(), "\"eu\"".into())],
        start: resources(),
        stop: vec![],
        timings: vec![timing()],
        ..Default::default()
    };
    assert!(
        f.store
            .job_complete_import(
                Claim {
                    job,
                    worker: daemon
                },
                id,
                &found,
                at(9)
            )
            .await
            .unwrap()
    );
    assert_eq!(
        f.text("select string_agg(name, ',' order by position) from template_version_parameters")
            .await,
        "size,count"
    );
    assert_eq!(
        f.text("select parameters from template_version_presets where is_default")
            .await,
        r#"[{"name": "size", "value": "l"}]"#
    );
    assert_eq!(
        f.text("select value from template_version_workspace_tags where key = 'zone'")
            .await,
        "\"eu\""
    );
    assert_eq!(
        f.text("select readme || has_ai_task || external_auth_providers from template_versions")
            .await,
        r##"# Hellofalse[{"id": "github", "optional": true}]"##
    );
    assert!(
        !f.text("select string_agg(v::text, '') from template_version_variables v")
            .await
            .contains("hunter2")
    );
    assert_eq!(
        f.store.job_variables(id).await.unwrap(),
        [("password".to_owned(), "hunter2".to_owned())],
        "Terraform knows the default of the other"
    );
    assert_eq!(f.store.job_version(id).await.unwrap().graph, "digraph {}");
}
