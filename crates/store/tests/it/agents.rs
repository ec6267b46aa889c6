//! Agents: who may sign in, where they are connected, and what they report.

use crate::support::{Fixture, at, no_tags};
use coder_model::access::{Scope, Subject};
use coder_model::{Action, Actor, AgentId, BuildId, ReplicaId, UserId, WorkspaceId};
use coder_store::pubsub::{Event, topics};
use coder_store::{
    AgentPlace, AliveAgent, BuildResult, Claim, Error, NewAgent, NewAgentLog, NewAgentMetadata,
    NewApp, NewResource, NewScript,
};
use uuid::Uuid;

pub static TEST: Actor = Actor::system("test");

/// A workspace with one agent, and the agent's token.
pub struct Running {
    pub f: Fixture,
    pub token: Uuid,
    pub agent: AgentPlace,
    pub workspace: Uuid,
    pub replica: ReplicaId,
}

pub async fn running() -> Running {
    let f = Fixture::new().await;
    let (replica, daemon) = f.daemon(no_tags()).await;
    let (job, build, workspace) = f.build("start", Some(3_600_000)).await;
    let token = Uuid::new_v4();
    f.store.job_claim(daemon, at(3)).await.unwrap().unwrap();
    let item = |key: &str, display_order| NewAgentMetadata {
        key: key.into(),
        script: "true".into(),
        interval_seconds: 10,
        display_order,
        ..Default::default()
    };
    let agent = NewAgent {
        name: "main".into(),
        token: Some(token.to_string()),
        environment: [("A".to_owned(), "1".to_owned())].into(),
        directory: "/src".into(),
        api_key_scope: "all".into(),
        metadata: vec![item("mem", 2), item("cpu", 1)],
        apps: vec![
            NewApp {
                slug: "web".into(),
                url: Some("http://localhost:8080".into()),
                healthcheck_url: "http://localhost/".into(),
                sharing_level: "public".into(),
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
    let resources = vec![NewResource {
        kind: "null_resource".into(),
        name: "ws".into(),
        agents: vec![agent],
        ..Default::default()
    }];
    let result = BuildResult {
        resources,
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
    let agent = f.store.agent_authenticate(token).await.unwrap().unwrap();
    Running {
        f,
        token,
        agent,
        workspace,
        replica,
    }
}

impl Running {
    /// Adds a build with a job in the given state (`pending` or `done`), and answers its job.
    pub async fn next_build(&self, number: i32, transition: &str, done: bool) {
        let job = self.f.plain_job(at(50)).await;
        if done {
            self.f
                .sql
                .execute(
                    "update provisioner_jobs set started_at = $2, completed_at = $2 where id = $1",
                    &[&job.0, &at(51)],
                )
                .await
                .unwrap();
        }
        self.f
            .sql
            .batch_execute(&format!(
                "insert into workspace_builds (id, workspace_id, template_version_id, build_number, transition, reason, initiator_id, job_id, \
                 created_at, updated_at) select gen_random_uuid(), workspace_id, template_version_id, {number}, '{transition}', 'initiator', \
                 initiator_id, '{job}', now(), now() from workspace_builds where workspace_id = '{}' and build_number = 1",
                self.workspace
            ))
            .await
            .unwrap();
    }

    pub async fn signs_in(&self) -> bool {
        let signed_in = self
            .f
            .store
            .agent_authenticate(self.token)
            .await
            .unwrap()
            .is_some();
        assert_eq!(
            self.f.store.agent_is_current(self.agent.id).await.unwrap(),
            signed_in
        );
        signed_in
    }

    pub async fn column(&self, column: &str) -> String {
        self.f
            .text(&format!(
                "select ({column})::text from workspace_agents where id = '{}'",
                self.agent.id
            ))
            .await
    }
}

pub fn member(user: UserId, r: &Running) -> Actor {
    Actor::user(Subject {
        user,
        roles: vec![],
        organizations: [(r.f.organization, vec![])].into(),
        scope: Scope::All,
    })
}

pub fn line(output: &str) -> NewAgentLog {
    NewAgentLog {
        created_at: at(5),
        level: "info",
        output: output.into(),
    }
}

#[tokio::test]
async fn an_agent_signs_in_for_the_latest_build_and_while_that_is_being_stopped() {
    let r = running().await;
    assert!(r.signs_in().await);
    assert!(
        r.f.store
            .agent_authenticate(Uuid::new_v4())
            .await
            .unwrap()
            .is_none()
    );
    assert_eq!(
        (
            r.agent.name.as_str(),
            r.agent.workspace_id,
            r.agent.owner_id
        ),
        ("main", WorkspaceId(r.workspace), r.f.user)
    );
    r.next_build(2, "stop", false).await;
    assert!(
        r.signs_in().await,
        "the stop runs: stop scripts must be able to report"
    );
    r.f.sql
        .execute(
            "update provisioner_jobs set completed_at = now() where completed_at is null",
            &[],
        )
        .await
        .unwrap();
    assert!(!r.signs_in().await, "the stop is done");
    r.next_build(3, "start", false).await;
    assert!(!r.signs_in().await, "a new start has agents of its own");
}

#[tokio::test]
async fn an_agent_of_a_deleted_workspace_or_an_older_start_does_not_sign_in() {
    let r = running().await;
    r.next_build(2, "start", true).await;
    assert!(!r.signs_in().await);
    let r = running().await;
    r.next_build(2, "delete", false).await;
    assert!(r.signs_in().await);
    r.f.sql
        .execute("update workspaces set deleted = true", &[])
        .await
        .unwrap();
    assert!(!r.signs_in().await);
}

#[tokio::test]
async fn an_agent_is_reached_by_those_who_may_use_its_workspace() {
    let r = running().await;
    let store = &r.f.store;
    let owner = member(r.f.user, &r);
    let stranger = member(UserId(Uuid::new_v4()), &r);
    assert_eq!(
        store
            .agent_place(&owner, r.agent.id, Action::Ssh)
            .await
            .unwrap()
            .owner_name,
        "ann"
    );
    assert!(matches!(
        store.agent_place(&stranger, r.agent.id, Action::Read).await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        store
            .agent_place(&owner, AgentId(Uuid::new_v4()), Action::Read)
            .await,
        Err(Error::NotFound)
    ));
    r.f.sql
        .execute("update workspaces set dormant_at = now()", &[])
        .await
        .unwrap();
    assert!(
        store
            .agent_place(&owner, r.agent.id, Action::Read)
            .await
            .unwrap()
            .dormant
    );
    assert!(
        matches!(
            store.agent_place(&owner, r.agent.id, Action::Ssh).await,
            Err(Error::NotFound)
        ),
        "a sleeping workspace is not entered"
    );
}

#[tokio::test]
async fn a_late_goodbye_does_not_end_the_newer_connection() {
    let r = running().await;
    let store = &r.f.store;
    assert!(
        store
            .agent_whereabouts(r.agent.id)
            .await
            .unwrap()
            .replica
            .is_none()
    );
    let mut events = store
        .pubsub()
        .subscribe(&topics::workspace(r.agent.workspace_id));
    let (first, second) = (Uuid::new_v4(), Uuid::new_v4());
    let now = chrono::Utc::now();
    store
        .agent_connected(&r.agent, r.replica, first, "2.10", now)
        .await
        .unwrap();
    store
        .agent_connected(&r.agent, r.replica, second, "2.10", now)
        .await
        .unwrap();
    assert!(matches!(events.next().await, Event::Message(m) if &*m == "agent_connection"));
    store
        .agent_disconnected(&r.agent, first, now)
        .await
        .unwrap();
    let found = store.agent_whereabouts(r.agent.id).await.unwrap();
    assert_eq!(
        (found.replica, found.expected),
        (Some((r.replica, String::new())), true)
    );
    assert_eq!(r.column("disconnected_at").await, "null");
    assert_eq!(r.column("api_version").await, "2.10");
    store
        .agent_disconnected(&r.agent, second, now + chrono::Duration::seconds(1))
        .await
        .unwrap();
    let found = store.agent_whereabouts(r.agent.id).await.unwrap();
    assert_eq!((found.replica, found.expected), (None, false));
    assert_eq!(
        r.column("disconnected_at > last_connected_at").await,
        "true"
    );
}

#[tokio::test]
async fn an_unregistered_replica_cannot_hold_an_agent() {
    let r = running().await;
    let unknown = ReplicaId(Uuid::new_v4());
    assert!(matches!(
        r.f.store
            .agent_connected(&r.agent, unknown, Uuid::new_v4(), "2.10", at(20))
            .await,
        Err(Error::InUse { .. })
    ));
}

#[tokio::test]
async fn signs_of_life_are_one_statement_and_name_those_whose_build_is_over() {
    let r = running().await;
    let store = &r.f.store;
    let alive = AliveAgent {
        id: r.agent.id,
        generation: Uuid::new_v4(),
        latency_ms: Some(1.5),
    };
    let gone = AliveAgent {
        id: AgentId(Uuid::new_v4()),
        generation: Uuid::new_v4(),
        latency_ms: None,
    };
    store
        .agent_connected(&r.agent, r.replica, alive.generation, "2.10", at(20))
        .await
        .unwrap();
    assert_eq!(
        store
            .agents_alive(r.replica, &[alive, gone], at(40))
            .await
            .unwrap(),
        [gone.id]
    );
    assert_eq!(
        r.column("extract(epoch from last_connected_at)::bigint")
            .await,
        at(40).timestamp().to_string()
    );
    assert_eq!(
        r.f.text("select latency_ms from workspace_agent_connections")
            .await,
        "1.5"
    );
    let other = AliveAgent {
        generation: Uuid::new_v4(),
        latency_ms: Some(9.0),
        ..alive
    };
    store
        .agents_alive(r.replica, &[other], at(41))
        .await
        .unwrap();
    assert_eq!(
        r.f.text("select latency_ms from workspace_agent_connections")
            .await,
        "1.5",
        "another connection's measure is not ours"
    );
    r.f.sql
        .execute("delete from workspace_agent_connections", &[])
        .await
        .unwrap();
    store
        .agents_alive(r.replica, &[alive], at(42))
        .await
        .unwrap();
    assert_eq!(
        store
            .agent_whereabouts(r.agent.id)
            .await
            .unwrap()
            .replica
            .unwrap()
            .0,
        r.replica,
        "a forgotten connection is written again"
    );
    r.next_build(2, "start", true).await;
    assert_eq!(
        store
            .agents_alive(r.replica, &[alive], at(43))
            .await
            .unwrap(),
        [r.agent.id]
    );
}

#[tokio::test]
async fn the_times_of_a_life_follow_from_its_states() {
    let r = running().await;
    let set = async |state: &str, t: i64| {
        r.f.store
            .agent_set_lifecycle(&r.agent, state, at(t), at(t))
            .await
            .unwrap()
    };
    let times = async || {
        let seconds = |name: &str| {
            format!(
                "coalesce(extract(epoch from {name})::bigint - {}, -1)",
                at(0).timestamp()
            )
        };
        (
            r.column(&seconds("started_at")).await,
            r.column(&seconds("ready_at")).await,
            r.column("lifecycle_state").await,
        )
    };
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    set("starting", 1).await;
    set("start_error", 5).await;
    assert_eq!(times().await, row("1", "5", "start_error"));
    set("starting", 7).await;
    assert_eq!(times().await, row("7", "-1", "starting"));
    set("ready", 8).await;
    set("shutting_down", 9).await;
    assert_eq!(times().await, row("7", "8", "shutting_down"));
    assert!(
        r.f.store
            .agent_set_lifecycle(&r.agent, "confused", at(1), at(1))
            .await
            .is_err()
    );
    r.f.store
        .agent_set_startup(
            &r.agent,
            "v2",
            "/home/ann/src",
            &["envbox".to_owned()],
            at(9),
        )
        .await
        .unwrap();
    assert_eq!(
        r.column("version || expanded_directory || subsystems::text")
            .await,
        "v2/home/ann/src{envbox}"
    );
}
