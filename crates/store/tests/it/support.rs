//! A database for each test, and the rows that most tests start from.

use chrono::{DateTime, Utc};
use coder_model::{DaemonId, JobId, OrganizationId, ReplicaId, UserId};
use coder_store::embedded::TestCluster;
use coder_store::{ConnectOptions, Store};
use serde_json::json;
use std::sync::LazyLock;
use uuid::Uuid;

static CLUSTER: LazyLock<TestCluster> =
    LazyLock::new(|| TestCluster::start().expect("PostgreSQL is installed"));

/// A store on an empty database, and a plain connection to look behind it.
pub struct Fixture {
    pub store: Store,
    pub sql: tokio_postgres::Client,
    pub organization: OrganizationId,
    pub user: UserId,
    pub file: Uuid,
}

/// A moment; later ones are `at(seconds)`.
pub fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

async fn plain(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

impl Fixture {
    /// Makes a database with an organization, a user and a file.
    pub async fn new() -> Self {
        let admin = plain(CLUSTER.url()).await;
        let name = format!("t{}", Uuid::new_v4().simple());
        admin
            .batch_execute(&format!("create database {name}"))
            .await
            .unwrap();
        let mut url = url::Url::parse(CLUSTER.url()).unwrap();
        url.set_path(&name);
        let url = url.to_string();
        let store = Store::connect(&url, &ConnectOptions::default())
            .await
            .unwrap();
        let sql = plain(&url).await;
        let organization = store
            .organization_ensure_default(OrganizationId(Uuid::new_v4()), at(0))
            .await
            .unwrap();
        let (user, file) = (Uuid::new_v4(), Uuid::new_v4());
        sql.execute(
            "insert into users (id, email, username, created_at, updated_at, status, login_type) \
             values ($1, 'a@example.com', 'ann', now(), now(), 'active', 'password')",
            &[&user],
        )
        .await
        .unwrap();
        sql.execute(
            "insert into files (id, hash, created_at, created_by, mimetype, data) values ($1, 'h', now(), $2, 'application/x-tar', 'tar')",
            &[&file, &user],
        )
        .await
        .unwrap();
        Self {
            store,
            sql,
            organization,
            user: UserId(user),
            file,
        }
    }

    /// Queues a job.
    pub async fn job(
        &self,
        kind: &str,
        input: serde_json::Value,
        tags: serde_json::Value,
        when: DateTime<Utc>,
    ) -> JobId {
        let id = Uuid::new_v4();
        self.sql
            .execute(
                "insert into provisioner_jobs (id, organization_id, initiator_id, type, input, file_id, tags, created_at, updated_at) \
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
                &[&id, &self.organization.0, &self.user.0, &kind, &input, &self.file, &tags, &when],
            )
            .await
            .unwrap();
        JobId(id)
    }

    /// Queues a job without tags of its own.
    pub async fn plain_job(&self, when: DateTime<Utc>) -> JobId {
        self.job("template_version_import", json!({}), no_tags(), when)
            .await
    }

    /// Registers a process with one daemon.
    pub async fn daemon(&self, tags: serde_json::Value) -> (ReplicaId, DaemonId) {
        let (replica, daemon) = (ReplicaId(Uuid::new_v4()), DaemonId(Uuid::new_v4()));
        self.store
            .replica_register(replica, "host", "", "v1")
            .await
            .unwrap();
        let daemons = [(daemon, "host-0".to_owned())];
        self.store
            .daemon_register(replica, self.organization, &daemons, "v1", &tags)
            .await
            .unwrap();
        (replica, daemon)
    }

    /// Queues the first build of a new workspace, and answers the job, the build and the workspace.
    pub async fn build(&self, transition: &str, ttl_ms: Option<i64>) -> (JobId, Uuid, Uuid) {
        let import = self.plain_job(at(0)).await;
        self.sql
            .execute(
                "update provisioner_jobs set started_at = $2, completed_at = $2 where id = $1",
                &[&import.0, &at(1)],
            )
            .await
            .unwrap();
        let (template, version, workspace, build) = (
            Uuid::new_v4(),
            Uuid::new_v4(),
            Uuid::new_v4(),
            Uuid::new_v4(),
        );
        let job = self
            .job(
                "workspace_build",
                json!({ "workspace_build_id": build }),
                no_tags(),
                at(2),
            )
            .await;
        self.sql
            .batch_execute(&format!(
                "begin; \
                 insert into templates (id, organization_id, created_at, updated_at, name, active_version_id, created_by) \
                   values ('{template}', '{o}', now(), now(), 't-{template}', '{version}', '{u}'); \
                 insert into template_versions (id, template_id, organization_id, created_at, updated_at, name, job_id, created_by) \
                   values ('{version}', '{template}', '{o}', now(), now(), 'v1', '{import}', '{u}'); \
                 insert into workspaces (id, organization_id, owner_id, template_id, name, created_at, updated_at, ttl_ms, last_used_at) \
                   values ('{workspace}', '{o}', '{u}', '{template}', 'w-{workspace}', now(), now(), {ttl}, to_timestamp(0)); \
                 insert into workspace_builds (id, workspace_id, template_version_id, build_number, transition, reason, initiator_id, \
                   job_id, created_at, updated_at) \
                   values ('{build}', '{workspace}', '{version}', 1, '{transition}', 'initiator', '{u}', '{job}', now(), now()); \
                 commit",
                o = self.organization,
                u = self.user,
                ttl = ttl_ms.map_or("null".to_owned(), |ms| ms.to_string()),
            ))
            .await
            .unwrap();
        (job, build, workspace)
    }

    /// One value of a query, as text.
    pub async fn text(&self, query: &str) -> String {
        let rows = self.sql.simple_query(query).await.unwrap();
        rows.iter()
            .find_map(|m| match m {
                tokio_postgres::SimpleQueryMessage::Row(row) => {
                    Some(row.get(0).unwrap_or("null").to_owned())
                }
                _ => None,
            })
            .unwrap_or_default()
    }
}

/// The tags of a job that asks for nothing special.
pub fn no_tags() -> serde_json::Value {
    json!({ "scope": "organization", "owner": "" })
}
