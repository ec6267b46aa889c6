//! What agents report: logs, metadata, health, statistics, and the activity that follows from them.

use crate::agents::{TEST, line, member, running};
use crate::support::at;
use coder_model::{AgentId, WorkspaceId};
use coder_store::pubsub::{Event, topics};
use coder_store::{
    AGENT_LOG_LIMIT, AgentLogSourceRow, AgentLogsStored, AgentMetadataValue, AgentPlace,
    AgentStatsRow, Error, ScriptTiming, agent_metadata_concerns,
};
use serde_json::json;
use uuid::Uuid;

#[tokio::test]
async fn log_lines_keep_their_order_and_the_first_are_announced() {
    let r = running().await;
    let store = &r.f.store;
    let source = Uuid::new_v4();
    let mut logs = store.pubsub().subscribe(&topics::agent_logs(r.agent.id));
    let lines: Vec<_> = (0..100).map(|i| line(&format!("line {i}\0"))).collect();
    assert_eq!(
        store
            .agent_logs_append(&r.agent, source, &lines)
            .await
            .unwrap(),
        AgentLogsStored::Stored
    );
    assert!(matches!(logs.next().await, Event::Message(_)));
    assert_eq!(
        store
            .agent_logs_append(&r.agent, source, &[line("last")])
            .await
            .unwrap(),
        AgentLogsStored::Stored
    );
    let all = store.agent_logs(&r.agent, 0, 1000).await.unwrap();
    let texts: Vec<_> = all.iter().map(|l| l.output.clone()).collect();
    assert_eq!(texts[..2], ["line 0\u{fffd}", "line 1\u{fffd}"]);
    assert_eq!(
        (texts.len(), texts[100].as_str(), all[0].log_source_id),
        (101, "last", source)
    );
    let rest = store.agent_logs(&r.agent, all[98].id, 1).await.unwrap();
    assert_eq!(rest[0].id, all[99].id);
}

#[tokio::test]
async fn a_full_log_takes_nothing_more_and_says_so_once() {
    let r = running().await;
    let store = &r.f.store;
    let big = "x".repeat(usize::try_from(AGENT_LOG_LIMIT).unwrap());
    assert_eq!(
        store
            .agent_logs_append(&r.agent, Uuid::nil(), &[line(&big[..1000])])
            .await
            .unwrap(),
        AgentLogsStored::Stored
    );
    assert_eq!(
        store
            .agent_logs_append(&r.agent, Uuid::nil(), &[line(&big)])
            .await
            .unwrap(),
        AgentLogsStored::Overflow
    );
    assert_eq!(
        store
            .agent_logs_append(&r.agent, Uuid::nil(), &[line("small")])
            .await
            .unwrap(),
        AgentLogsStored::Overflow
    );
    assert_eq!(
        r.column("logs_overflowed::text || logs_length").await,
        "true1000"
    );
    assert_eq!(store.agent_logs(&r.agent, 0, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_log_source_that_is_there_stays_as_it_is() {
    let r = running().await;
    let row = AgentLogSourceRow {
        id: Uuid::new_v4(),
        created_at: at(1),
        display_name: "Build".into(),
        icon: String::new(),
    };
    assert_eq!(
        r.f.store
            .agent_log_source_add(&r.agent, &row)
            .await
            .unwrap()
            .display_name,
        "Build"
    );
    let again = AgentLogSourceRow {
        display_name: "Other".into(),
        ..row
    };
    assert_eq!(
        r.f.store
            .agent_log_source_add(&r.agent, &again)
            .await
            .unwrap()
            .display_name,
        "Build"
    );
    assert_eq!(
        r.f.store.agent_log_sources(r.agent.id).await.unwrap().len(),
        2,
        "the script is a source, too"
    );
}

#[tokio::test]
async fn metadata_of_many_agents_is_stored_at_once_and_unknown_keys_passed_over() {
    let r = running().await;
    let store = &r.f.store;
    let mut events = store.pubsub().subscribe(topics::AGENT_METADATA);
    let value = |key: &str, value: &str| AgentMetadataValue {
        agent: r.agent.id,
        key: key.into(),
        value: value.into(),
        error: String::new(),
        collected_at: at(30),
    };
    store
        .agent_metadata_set(&[
            value("cpu", "5 %"),
            value("mem", "1\0"),
            value("unknown", "x"),
        ])
        .await
        .unwrap();
    store.agent_metadata_set(&[]).await.unwrap();
    assert!(
        matches!(events.next().await, Event::Message(payload) if agent_metadata_concerns(&payload, r.agent.id))
    );
    let items = store.agent_metadata(&r.agent).await.unwrap();
    let shown: Vec<_> = items
        .iter()
        .map(|i| (i.key.as_str(), i.value.as_str(), i.collected_at))
        .collect();
    assert_eq!(
        shown,
        [
            ("cpu", "5 %", Some(at(30))),
            ("mem", "1\u{fffd}", Some(at(30)))
        ]
    );
}

#[tokio::test]
async fn a_manifest_has_all_that_the_template_gave_the_agent() {
    let r = running().await;
    let manifest = r.f.store.agent_manifest(&r.agent).await.unwrap();
    assert_eq!(
        (manifest.environment_variables, manifest.directory.as_str()),
        (json!({"A": "1"}), "/src")
    );
    assert_eq!(manifest.scripts[0].display_name, "Startup Script");
    assert!(manifest.scripts[0].run_on_start);
    assert_eq!(
        manifest
            .apps
            .iter()
            .map(|a| a.slug.as_str())
            .collect::<Vec<_>>(),
        ["web", "plain"]
    );
    assert_eq!(
        manifest
            .metadata
            .iter()
            .map(|m| m.key.as_str())
            .collect::<Vec<_>>(),
        ["cpu", "mem"]
    );
    r.f.sql
        .execute("delete from workspace_agents", &[])
        .await
        .unwrap();
    assert!(matches!(
        r.f.store.agent_manifest(&r.agent).await,
        Err(Error::NotFound)
    ));
}

#[tokio::test]
async fn health_and_timings_are_taken_only_for_the_agents_own_apps_and_scripts() {
    let r = running().await;
    let other = running().await;
    let manifest = r.f.store.agent_manifest(&r.agent).await.unwrap();
    let (web, plain) = (manifest.apps[0].id, manifest.apps[1].id);
    r.f.store
        .agent_set_app_health(
            &r.agent,
            &[
                (web, "healthy"),
                (plain, "unhealthy"),
                (Uuid::new_v4(), "healthy"),
            ],
        )
        .await
        .unwrap();
    assert_eq!(
        r.f.text("select string_agg(health, ',' order by position) from workspace_apps")
            .await,
        "healthy,disabled"
    );
    r.f.store
        .agent_set_app_health(&other.agent, &[(web, "unhealthy")])
        .await
        .unwrap();
    assert_eq!(
        r.f.text("select string_agg(health, ',' order by position) from workspace_apps")
            .await,
        "healthy,disabled"
    );
    let timing = |script| ScriptTiming {
        script,
        started_at: at(1),
        ended_at: at(2),
        exit_code: 3,
        stage: "start",
        status: "exit_failure",
    };
    for script in [
        manifest.scripts[0].id,
        manifest.scripts[0].id,
        Uuid::new_v4(),
    ] {
        r.f.store
            .agent_add_script_timing(&r.agent, &timing(script))
            .await
            .unwrap();
    }
    assert_eq!(
        r.f.text("select count(*) || ':' || max(exit_code) from workspace_agent_script_timings")
            .await,
        "1:3"
    );
}

#[tokio::test]
async fn statistics_of_agents_that_are_gone_do_not_spoil_those_of_others() {
    let r = running().await;
    let row = |agent: AgentPlace| AgentStatsRow {
        agent,
        created_at: at(40),
        connections_by_proto: json!({"TCP": 2}),
        connection_count: 2,
        connection_median_latency_ms: 1.5,
        rx_packets: 1,
        rx_bytes: 2,
        tx_packets: 3,
        tx_bytes: 4,
        session_count_vscode: 5,
        session_count_jetbrains: 6,
        session_count_reconnecting_pty: 7,
        session_count_ssh: 8,
    };
    let gone = AgentPlace {
        id: AgentId(Uuid::new_v4()),
        ..r.agent.clone()
    };
    r.f.store
        .agent_stats_add(&[row(r.agent.clone()), row(gone)])
        .await
        .unwrap();
    r.f.store.agent_stats_add(&[]).await.unwrap();
    let sql = "select string_agg(connections_by_proto->>'TCP' || ':' || tx_bytes || ':' || session_count_ssh, ',') from workspace_agent_stats";
    assert_eq!(r.f.text(sql).await, "2:4:8");
}

#[tokio::test]
async fn use_moves_the_deadline_of_what_runs_and_never_back() {
    let r = running().await;
    let store = &r.f.store;
    let ids = [WorkspaceId(r.workspace)];
    store.workspaces_used(&ids, at(100)).await.unwrap();
    store.workspaces_used(&ids, at(90)).await.unwrap();
    assert_eq!(
        r.f.text("select extract(epoch from last_used_at)::bigint from workspaces")
            .await,
        at(100).timestamp().to_string()
    );
    let rows = store.workspaces_bumpable(&ids).await.unwrap();
    assert_eq!(
        (rows[0].deadline, rows[0].ttl, rows[0].activity_bump),
        (
            at(3610),
            Some(chrono::Duration::hours(1)),
            chrono::Duration::hours(1)
        )
    );
    store
        .build_bump_deadline(&rows[0], at(4000), at(400))
        .await
        .unwrap();
    store
        .build_bump_deadline(&rows[0], at(3000), at(401))
        .await
        .unwrap();
    assert_eq!(
        store.workspaces_bumpable(&ids).await.unwrap()[0].deadline,
        at(4000)
    );
    r.f.sql
        .execute("update templates set activity_bump_ms = 0", &[])
        .await
        .unwrap();
    assert!(store.workspaces_bumpable(&ids).await.unwrap().is_empty());
    r.f.sql
        .execute("update templates set activity_bump_ms = 1000", &[])
        .await
        .unwrap();
    r.next_build(2, "stop", false).await;
    assert!(store.workspaces_bumpable(&ids).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_apps_address_leads_to_the_app_of_the_latest_build() {
    let r = running().await;
    let name = format!("W-{}", r.workspace);
    let place =
        r.f.store
            .path_app_find(&TEST, "ANN", &name, "", "web")
            .await
            .unwrap();
    assert_eq!(
        (
            place.owner_id,
            place.transition.as_str(),
            place.job_status.as_str()
        ),
        (r.f.user, "start", "succeeded")
    );
    assert_eq!(
        (
            place.agent_count,
            place.agents[0].agent_id,
            place.agents[0].display_name.as_str()
        ),
        (1, r.agent.id, "web")
    );
    assert_eq!(
        (
            place.agents[0].url.as_str(),
            place.agents[0].sharing_level.as_str()
        ),
        ("http://localhost:8080", "public")
    );
    let place =
        r.f.store
            .path_app_find(&TEST, "ann", &name, "other", "web")
            .await
            .unwrap();
    assert_eq!(place.agent_count, 0);
    assert!(matches!(
        r.f.store
            .path_app_find(&TEST, "bob", &name, "", "web")
            .await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        r.f.store
            .path_app_find(&member(r.f.user, &r), "ann", &name, "", "web")
            .await,
        Err(Error::Forbidden)
    ));
    r.next_build(2, "stop", true).await;
    let place =
        r.f.store
            .path_app_find(&TEST, "ann", &name, "", "web")
            .await
            .unwrap();
    assert_eq!((place.agent_count, place.transition.as_str()), (0, "stop"));
}
