//! Templates, workspaces and their builds: who sees what, and what may happen at once.

use crate::support::{Fixture, at, no_tags};
use chrono::{DateTime, Utc};
use coder_model::access::{Scope, Subject};
use coder_model::search::parse;
use coder_model::{
    Actor, BuildId, FileId, JobId, Sharing, TemplateId, TemplateVersionId, UserId, WorkspaceId,
};
use coder_store::{
    BuildKey, BuildState, Error, NewBuild, NewJob, NewTemplate, NewVersion, NewWorkspace,
    PortShareRow, TemplateFilter, TemplateKey, TemplateSettings, VersionKey, WORKSPACE_SEARCH_KEYS,
    WorkspaceFilter, WorkspaceKey, WorkspaceRow,
};
use serde_json::json;
use uuid::Uuid;

pub static TEST: Actor = Actor::system("test");

/// The fixture's user as a member without roles.
pub fn member(f: &Fixture, user: UserId) -> Actor {
    Actor::user(Subject {
        user,
        roles: vec![],
        organizations: [(f.organization, vec![])].into(),
        scope: Scope::All,
    })
}

pub async fn join(f: &Fixture, name: &str) -> UserId {
    let id = Uuid::new_v4();
    f.sql
        .execute(
            "insert into users (id, email, username, created_at, updated_at, status, login_type) values ($1, $2, $2, now(), now(), 'active', 'password')",
            &[&id, &name],
        )
        .await
        .unwrap();
    enrol(f, id).await;
    UserId(id)
}

async fn enrol(f: &Fixture, user: Uuid) {
    f.sql
        .execute(
            "insert into organization_members (user_id, organization_id, created_at, updated_at) values ($1, $2, now(), now())",
            &[&user, &f.organization.0],
        )
        .await
        .unwrap();
}

fn settings(name: &str) -> TemplateSettings {
    TemplateSettings {
        name: name.into(),
        display_name: String::new(),
        description: String::new(),
        icon: String::new(),
        default_ttl_ms: 0,
        activity_bump_ms: 0,
        allow_user_cancel_workspace_jobs: true,
        allow_user_autostart: true,
        allow_user_autostop: true,
        autostart_days: vec!["monday".into()],
        autostop_days: vec![],
        autostop_weeks: 1,
        failure_ttl_ms: 0,
        time_til_dormant_ms: 0,
        time_til_dormant_autodelete_ms: 0,
        require_active_version: false,
        deprecation_message: String::new(),
        max_port_share_level: "public".into(),
        use_classic_parameter_flow: true,
    }
}

fn new_job(f: &Fixture, kind: &'static str, now: DateTime<Utc>) -> NewJob<'static> {
    NewJob {
        id: JobId(Uuid::new_v4()),
        organization_id: f.organization,
        initiator_id: f.user,
        kind,
        input: json!({}),
        file_id: FileId(f.file),
        tags: no_tags(),
        trace_metadata: None,
        now,
    }
}

pub async fn finish(f: &Fixture, job: JobId) {
    f.sql
        .execute(
            "update provisioner_jobs set started_at = now(), completed_at = now() where id = $1",
            &[&job.0],
        )
        .await
        .unwrap();
}

async fn version(
    f: &Fixture,
    template: Option<TemplateId>,
    name: &str,
    now: DateTime<Utc>,
) -> TemplateVersionId {
    let new = NewVersion {
        id: TemplateVersionId(Uuid::new_v4()),
        template_id: template,
        name,
        message: "",
        source_example_id: None,
        created_by: f.user,
        variables: &[],
        job: new_job(f, "template_version_import", now),
    };
    let row = f.store.version_create(&TEST, &new).await.unwrap();
    finish(f, row.job.id).await;
    row.id
}

pub async fn template(f: &Fixture, name: &str) -> (TemplateId, TemplateVersionId) {
    let version = version(f, None, "v1", at(0)).await;
    let new = NewTemplate {
        id: TemplateId(Uuid::new_v4()),
        organization_id: f.organization,
        version,
        created_by: f.user,
        settings: settings(name),
        sharing: Sharing::with_everyone(),
        now: at(1),
    };
    (
        f.store.template_create(&TEST, &new).await.unwrap().id,
        version,
    )
}

fn new_build<'a>(
    f: &Fixture,
    version: TemplateVersionId,
    transition: &'a str,
    parameters: &'a [(String, String)],
    state: BuildState,
) -> NewBuild<'a> {
    NewBuild {
        id: BuildId(Uuid::new_v4()),
        template_version_id: version,
        template_version_preset_id: None,
        transition,
        reason: "initiator",
        initiator_id: f.user,
        parameters,
        state,
        job: new_job(f, "workspace_build", at(10)),
    }
}

pub async fn workspace(
    f: &Fixture,
    owner: UserId,
    template: TemplateId,
    version: TemplateVersionId,
    name: &str,
) -> WorkspaceRow {
    let new = NewWorkspace {
        id: WorkspaceId(Uuid::new_v4()),
        organization_id: f.organization,
        owner_id: owner,
        template_id: template,
        name,
        autostart_schedule: None,
        next_start_at: None,
        ttl_ms: None,
        automatic_updates: "never",
        now: at(10),
    };
    let parameters = [("size".to_owned(), "l".to_owned())];
    let build = new_build(f, version, "start", &parameters, BuildState::Forget);
    f.store.workspace_create(&TEST, &new, &build).await.unwrap()
}

async fn names(f: &Fixture, actor: &Actor, q: &str) -> Vec<String> {
    let query = parse(q, WORKSPACE_SEARCH_KEYS).unwrap();
    let filter = WorkspaceFilter::from_query(&query, "ann").unwrap();
    let (rows, count) = f
        .store
        .workspace_list(actor, &filter, Utc::now())
        .await
        .unwrap();
    assert_eq!(i64::try_from(rows.len()).unwrap(), count);
    rows.into_iter().map(|w| w.name).collect()
}

#[tokio::test]
async fn a_template_takes_a_version_once_and_its_name_is_unique_in_any_case() {
    let f = Fixture::new().await;
    let (id, first) = template(&f, "web").await;
    let new = |version, name| NewTemplate {
        id: TemplateId(Uuid::new_v4()),
        organization_id: f.organization,
        version,
        created_by: f.user,
        settings: settings(name),
        sharing: Sharing::with_everyone(),
        now: at(2),
    };
    let error = f
        .store
        .template_create(&TEST, &new(first, "other"))
        .await
        .unwrap_err();
    assert!(error.is_conflict("template_versions_template"), "{error:?}");
    let second = version(&f, None, "v1", at(3)).await;
    let error = f
        .store
        .template_create(&TEST, &new(second, "WEB"))
        .await
        .unwrap_err();
    assert!(error.is_conflict("templates_name"), "{error:?}");
    assert_eq!(
        f.store
            .template_get(&TEST, TemplateKey::Name(f.organization, "Web"))
            .await
            .unwrap()
            .id,
        id
    );
    assert_eq!(
        f.store
            .template_list(&TEST, &TemplateFilter::default())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn members_see_templates_for_everybody_and_nobody_elses_workspaces() {
    let f = Fixture::new().await;
    enrol(&f, f.user.0).await;
    let bob = join(&f, "bob").await;
    let (open, v) = template(&f, "open").await;
    let (closed, _) = template(&f, "closed").await;
    f.store
        .template_update(&TEST, closed, &settings("closed"), true, at(5))
        .await
        .unwrap();
    let as_bob = member(&f, bob);
    let list = f
        .store
        .template_list(&as_bob, &TemplateFilter::default())
        .await
        .unwrap();
    assert_eq!(list.iter().map(|t| t.id).collect::<Vec<_>>(), [open]);
    assert!(matches!(
        f.store.template_get(&as_bob, TemplateKey::Id(closed)).await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        f.store
            .template_update(&as_bob, open, &settings("x"), false, at(6))
            .await,
        Err(Error::Forbidden)
    ));

    let anns = workspace(&f, f.user, open, v, "dev").await;
    assert!(matches!(
        f.store
            .workspace_get(&as_bob, WorkspaceKey::Id(anns.id), false)
            .await,
        Err(Error::NotFound)
    ));
    assert!(matches!(
        f.store
            .build_get(&as_bob, BuildKey::Id(anns.latest_build.id))
            .await,
        Err(Error::NotFound)
    ));
    assert_eq!(names(&f, &as_bob, "").await, [""; 0]);
    assert_eq!(names(&f, &member(&f, f.user), "").await, ["dev"]);
    assert!(matches!(
        f.store
            .build_state(&member(&f, f.user), anns.latest_build.id)
            .await,
        Err(Error::Forbidden)
    ));
}

#[tokio::test]
async fn only_one_build_is_active_and_each_begins_with_the_state_of_the_one_before() {
    let f = Fixture::new().await;
    let (t, v) = template(&f, "web").await;
    let w = workspace(&f, f.user, t, v, "dev").await;
    let first = w.latest_build;
    let stop = new_build(&f, v, "stop", &[], BuildState::Carry);
    let error = f
        .store
        .build_create(&TEST, w.id, first.id, &stop)
        .await
        .unwrap_err();
    assert!(error.is_conflict("workspace_builds_active"), "{error:?}");
    finish(&f, first.job.id).await;
    f.store
        .build_set_state(&TEST, first.id, b"{\"secret\":1}", at(20))
        .await
        .unwrap();
    let stored = f
        .text("select encode(state_sealed, 'escape') from workspace_builds")
        .await;
    assert!(!stored.contains("secret"), "state is sealed at rest");

    let stopped = f
        .store
        .build_create(&TEST, w.id, first.id, &stop)
        .await
        .unwrap();
    assert_eq!(
        (stopped.build_number, stopped.transition.as_str()),
        (2, "stop")
    );
    assert_eq!(
        f.store.build_state(&TEST, stopped.id).await.unwrap(),
        b"{\"secret\":1}"
    );
    finish(&f, stopped.job.id).await;
    // Whoever decided by an older build decides again.
    let late = new_build(&f, v, "start", &[], BuildState::Carry);
    let error = f
        .store
        .build_create(&TEST, w.id, first.id, &late)
        .await
        .unwrap_err();
    assert!(error.is_conflict("workspace_builds_active"), "{error:?}");
    let forgetful = new_build(&f, v, "delete", &[], BuildState::Forget);
    let deleted = f
        .store
        .build_create(&TEST, w.id, stopped.id, &forgetful)
        .await
        .unwrap();
    assert_eq!(f.store.build_state(&TEST, deleted.id).await.unwrap(), b"");
    let numbers: Vec<i32> = f
        .store
        .build_list(&TEST, w.id, None, None, Some(2), 0)
        .await
        .unwrap()
        .iter()
        .map(|b| b.build_number)
        .collect();
    assert_eq!(numbers, [3, 2]);
    assert_eq!(
        f.store
            .build_list(&TEST, w.id, None, Some(stopped.id.0), None, 0)
            .await
            .unwrap()[0]
            .id,
        first.id
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_builds_asked_for_at_once_one_is_made() {
    let f = Fixture::new().await;
    let (t, v) = template(&f, "web").await;
    let w = workspace(&f, f.user, t, v, "dev").await;
    finish(&f, w.latest_build.job.id).await;
    let racers = (0..8).map(|_| {
        let (store, after) = (f.store.clone(), w.latest_build.id);
        let build = new_build(&f, v, "stop", &[], BuildState::Carry);
        tokio::spawn(async move { store.build_create(&TEST, w.id, after, &build).await.is_ok() })
    });
    let mut made = 0;
    for racer in racers.collect::<Vec<_>>() {
        made += usize::from(racer.await.unwrap());
    }
    assert_eq!(made, 1);
}

#[tokio::test]
async fn a_search_finds_workspaces_by_every_key_and_sorts_favourites_first() {
    let f = Fixture::new().await;
    enrol(&f, f.user.0).await;
    let bob = join(&f, "bob").await;
    let (t, v) = template(&f, "web").await;
    for (owner, name) in [(f.user, "alpha"), (f.user, "beta"), (bob, "gamma")] {
        workspace(&f, owner, t, v, name).await;
    }
    let beta = f
        .store
        .workspace_get(&TEST, WorkspaceKey::Name(f.user, "BETA"), false)
        .await
        .unwrap();
    finish(&f, beta.latest_build.job.id).await;
    for (q, expected) in [
        ("owner:me", vec!["beta", "alpha"]),
        ("me/alp", vec!["alpha"]),
        ("bob/", vec!["gamma"]),
        ("name:a", vec!["beta", "alpha", "gamma"]),
        ("status:running", vec!["beta"]),
        ("status:pending,running owner:ann", vec!["beta", "alpha"]),
        ("template:WEB name:gamma", vec!["gamma"]),
        ("template:none", vec![]),
        ("param:size", vec!["beta", "alpha", "gamma"]),
        ("\"param:size=l\" name:alpha", vec!["alpha"]),
        ("param:size=s", vec![]),
        ("outdated:true", vec![]),
        ("dormant:true", vec![]),
        ("has-agent:connected", vec![]),
        ("organization:coder name:alpha", vec!["alpha"]),
        ("last_used_after:2200-01-01T00:00:00Z", vec![]),
    ] {
        assert_eq!(names(&f, &TEST, q).await, expected, "{q}");
    }
    let alpha = f
        .store
        .workspace_get(&TEST, WorkspaceKey::Name(f.user, "alpha"), false)
        .await
        .unwrap();
    f.store
        .workspace_set_favorite(&TEST, alpha.id, true, at(30))
        .await
        .unwrap();
    assert_eq!(names(&f, &member(&f, f.user), "").await, ["alpha", "beta"]);
    f.store
        .workspace_set_dormant(&TEST, alpha.id, Some(at(31)), None, at(31))
        .await
        .unwrap();
    assert_eq!(names(&f, &member(&f, f.user), "").await, ["beta"]);
    assert_eq!(
        names(&f, &member(&f, f.user), "dormant:true").await,
        ["alpha"]
    );
    let second = version(&f, Some(t), "v2", at(40)).await;
    f.store
        .template_promote(&TEST, t, second, at(41))
        .await
        .unwrap();
    assert_eq!(
        names(&f, &TEST, "outdated:true name:gamma").await,
        ["gamma"]
    );

    let page = WorkspaceFilter {
        limit: Some(1),
        offset: 1,
        ..WorkspaceFilter::default()
    };
    let (rows, count) = f
        .store
        .workspace_list(&TEST, &page, Utc::now())
        .await
        .unwrap();
    assert_eq!((rows.len(), count), (1, 2));
    let beyond = WorkspaceFilter {
        limit: Some(5),
        offset: 9,
        ..WorkspaceFilter::default()
    };
    assert_eq!(
        f.store
            .workspace_list(&TEST, &beyond, Utc::now())
            .await
            .unwrap()
            .1,
        2
    );
}

#[tokio::test]
async fn a_deleted_workspace_frees_its_name_and_its_template() {
    let f = Fixture::new().await;
    let (t, v) = template(&f, "web").await;
    let w = workspace(&f, f.user, t, v, "dev").await;
    let new = NewWorkspace {
        id: WorkspaceId(Uuid::new_v4()),
        organization_id: f.organization,
        owner_id: f.user,
        template_id: t,
        name: "DEV",
        autostart_schedule: None,
        next_start_at: None,
        ttl_ms: None,
        automatic_updates: "never",
        now: at(12),
    };
    let build = new_build(&f, v, "start", &[], BuildState::Forget);
    let error = f
        .store
        .workspace_create(&TEST, &new, &build)
        .await
        .unwrap_err();
    assert!(error.is_conflict("workspaces_name"), "{error:?}");
    assert!(matches!(
        f.store.template_delete(&TEST, t, at(13)).await,
        Err(Error::InUse { .. })
    ));
    f.sql
        .execute(
            "update workspaces set deleted = true where id = $1",
            &[&w.id.0],
        )
        .await
        .unwrap();
    assert!(
        f.store
            .workspace_get(&TEST, WorkspaceKey::Name(f.user, "dev"), true)
            .await
            .unwrap()
            .deleted
    );
    f.store.workspace_create(&TEST, &new, &build).await.unwrap();
    assert!(
        !f.store
            .workspace_get(&TEST, WorkspaceKey::Name(f.user, "dev"), true)
            .await
            .unwrap()
            .deleted
    );
    f.sql
        .execute("update workspaces set deleted = true", &[])
        .await
        .unwrap();
    f.store.template_delete(&TEST, t, at(14)).await.unwrap();
    assert!(matches!(
        f.store.template_get(&TEST, TemplateKey::Id(t)).await,
        Err(Error::NotFound)
    ));
}

#[tokio::test]
async fn versions_in_use_stay_out_of_the_archive() {
    let f = Fixture::new().await;
    let (t, v1) = template(&f, "web").await;
    workspace(&f, f.user, t, v1, "dev").await;
    let v2 = version(&f, Some(t), "v2", at(20)).await;
    let v3 = version(&f, Some(t), "v3", at(21)).await;
    f.store
        .template_promote(&TEST, t, v3, at(22))
        .await
        .unwrap();
    assert_eq!(
        f.store
            .version_archive(&TEST, t, Some(v1), true, at(23))
            .await
            .unwrap(),
        Vec::<Uuid>::new()
    );
    assert_eq!(
        f.store
            .version_archive(&TEST, t, None, true, at(24))
            .await
            .unwrap(),
        [v2.0]
    );
    let listed = f
        .store
        .version_list(&TEST, t, false, None, None, 0)
        .await
        .unwrap();
    assert_eq!(listed.iter().map(|v| v.id).collect::<Vec<_>>(), [v1, v3]);
    assert!(matches!(
        f.store.template_promote(&TEST, t, v2, at(25)).await,
        Err(Error::NotFound)
    ));
    f.store.version_unarchive(&TEST, v2, at(26)).await.unwrap();
    let row = f
        .store
        .version_get(&TEST, VersionKey::Name(t, "V3"))
        .await
        .unwrap();
    assert_eq!(
        f.store
            .version_previous(&TEST, &row)
            .await
            .unwrap()
            .unwrap()
            .id,
        v2
    );
    let first = f
        .store
        .version_get(&TEST, VersionKey::Id(v1))
        .await
        .unwrap();
    assert!(
        f.store
            .version_previous(&TEST, &first)
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn values_of_variables_are_sealed_and_opened_again() {
    let f = Fixture::new().await;
    let variables = [("token".to_owned(), "s3cret-value".to_owned())];
    let new = NewVersion {
        id: TemplateVersionId(Uuid::new_v4()),
        template_id: None,
        name: "v1",
        message: "",
        source_example_id: None,
        created_by: f.user,
        variables: &variables,
        job: new_job(&f, "template_version_import", at(0)),
    };
    f.store.version_create(&TEST, &new).await.unwrap();
    assert!(
        !f.text("select encode(value_sealed, 'escape') from template_version_variables")
            .await
            .contains("s3cret-value")
    );
    let found = f.store.version_variables(new.id).await.unwrap();
    assert_eq!(
        (
            found[0].name.as_str(),
            found[0].value.as_str(),
            found[0].sensitive
        ),
        ("token", "s3cret-value", true)
    );
}

#[tokio::test]
async fn port_shares_are_replaced_and_removed() {
    let f = Fixture::new().await;
    let (t, v) = template(&f, "web").await;
    let w = workspace(&f, f.user, t, v, "dev").await;
    let mut share = PortShareRow {
        workspace_id: w.id,
        agent_name: "main".into(),
        port: 8080,
        share_level: "authenticated".into(),
        protocol: "http".into(),
    };
    f.store.port_share_upsert(&TEST, &share).await.unwrap();
    share.share_level = "public".into();
    f.store.port_share_upsert(&TEST, &share).await.unwrap();
    assert_eq!(f.store.port_share_list(&TEST, w.id).await.unwrap(), [share]);
    f.store
        .port_share_delete(&TEST, w.id, "main", 8080)
        .await
        .unwrap();
    assert!(matches!(
        f.store.port_share_delete(&TEST, w.id, "main", 8080).await,
        Err(Error::NotFound)
    ));
}
