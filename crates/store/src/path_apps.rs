//! What stands behind the address of an app under the deployment's own host.

use crate::agents::workspace_object;
use crate::db::{self, FromRow};
use crate::{Error, Result, Store};
use coder_model::{Actor, AgentId, Object, OrganizationId, UserId, WorkspaceId};
use tokio_postgres::Row;
use uuid::Uuid;

/// What a path app's address leads to, before anybody asks who may open it.
#[derive(Clone, Debug)]
pub struct AppPlace {
    pub workspace_id: WorkspaceId,
    pub owner_id: UserId,
    pub organization_id: OrganizationId,
    pub dormant: bool,
    /// The transition of the latest build.
    pub transition: String,
    /// The status of the latest build's job.
    pub job_status: String,
    /// The agents of the latest build that fit the address; only those that have the app.
    pub agents: Vec<AppOfAgent>,
    /// How many agents fit the address, with the app or without.
    pub agent_count: usize,
}

impl AppPlace {
    /// The workspace as access rules look at it.
    pub fn object(&self) -> Object {
        workspace_object(self.organization_id, self.owner_id, self.dormant)
    }
}

/// An app and its agent.
#[derive(Clone, Debug)]
pub struct AppOfAgent {
    pub agent_id: AgentId,
    pub agent_name: String,
    pub display_name: String,
    pub url: String,
    pub external: bool,
    pub sharing_level: String,
}

struct AppWorkspaceRow(AppPlace, Uuid);

impl FromRow for AppWorkspaceRow {
    fn from_row(row: &Row) -> Self {
        let place = AppPlace {
            workspace_id: WorkspaceId(row.get(0)),
            owner_id: UserId(row.get(1)),
            organization_id: OrganizationId(row.get(2)),
            dormant: row.get(3),
            transition: row.get(4),
            job_status: row.get(5),
            agents: vec![],
            agent_count: 0,
        };
        Self(place, row.get(6))
    }
}

struct MaybeApp(Option<AppOfAgent>);

impl FromRow for MaybeApp {
    fn from_row(row: &Row) -> Self {
        let slug: Option<String> = row.get(2);
        Self(slug.map(|slug| {
            let display_name: String = row.get(3);
            AppOfAgent {
                agent_id: AgentId(row.get(0)),
                agent_name: row.get(1),
                display_name: if display_name.is_empty() {
                    slug
                } else {
                    display_name
                },
                url: row.get::<_, Option<String>>(4).unwrap_or_default(),
                external: row.get(5),
                sharing_level: row.get(6),
            }
        }))
    }
}

impl Store {
    /// What stands behind the address of a path app. Who may open it follows from the app's sharing
    /// level, so only the product itself asks.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such workspace; [`Error::Forbidden`] for anybody else.
    pub async fn path_app_find(
        &self,
        actor: &Actor,
        owner: &str,
        workspace: &str,
        agent: &str,
        slug: &str,
    ) -> Result<AppPlace> {
        if actor.reason().is_none() {
            return Err(Error::Forbidden);
        }
        let client = self.client().await?;
        let AppWorkspaceRow(mut place, job) = db::one(
            &client,
            "select w.id, w.owner_id, w.organization_id, w.dormant_at is not null, b.transition, j.job_status, b.job_id \
             from workspaces w join users u on u.id = w.owner_id \
             join workspace_builds b on b.workspace_id = w.id \
               and b.build_number = (select max(m.build_number) from workspace_builds m where m.workspace_id = w.id) \
             join provisioner_jobs j on j.id = b.job_id \
             where lower(u.username) = lower($1) and not u.deleted and lower(w.name) = lower($2) and not w.deleted",
            &[&owner, &workspace],
        )
        .await?;
        let agents: Vec<MaybeApp> = db::rows(
            &client,
            "select a.id, a.name, p.slug, p.display_name, p.url, p.external, p.sharing_level \
             from workspace_agents a join workspace_resources r on r.id = a.resource_id \
             left join workspace_apps p on p.agent_id = a.id and p.slug = $3 \
             where r.job_id = $1 and not a.deleted and ($2 = '' or lower(a.name) = lower($2)) order by a.name",
            &[&job, &agent, &slug],
        )
        .await?;
        place.agent_count = agents.len();
        place.agents = agents.into_iter().filter_map(|MaybeApp(app)| app).collect();
        Ok(place)
    }
}
