//! Following all workspaces that a search finds: what became of them, in batches.
//!
//! One stream serves a list however long it is. It hears of every workspace, reads those that it heard of through the
//! search as the caller, and remembers of each only what it looked like. So it can tell of nothing that the list would
//! not show, and what it holds is bounded: a number for each row, the ids that it has still to read, and one batch.

use super::follow::{Follow, follow};
use super::{App, Caller};
use crate::fail::Fail;
use chrono::Utc;
use coder_model::search::{self, Query};
use coder_model::states::JobStatus;
use coder_model::{JobId, WorkspaceId};
use coder_store::pubsub::{Event, Subscription, topics};
use coder_store::{WORKSPACE_SEARCH_KEYS, WorkspaceFilter};
use coder_wire as wire;
use futures_util::Stream;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;
use tokio::time::Instant;

/// How often to look at all of it without an event: states also change with time alone, and events can be lost.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// How often to see whether the session is still good.
const RENEW_EVERY: Duration = Duration::from_secs(20);
/// The least time between two batches, in which events are gathered.
const PAUSE: Duration = Duration::from_millis(200);
/// The same for the stages of builds, whose logs come line by line.
const STAGE_PAUSE: Duration = Duration::from_secs(1);
/// The most rows that are read at once, and so that a batch holds.
const BATCH: usize = 50;
/// The most ids to be read of workspaces that are not known; with more of them, all is looked at.
const MANY: usize = 1000;

/// What has to be read.
#[derive(Default)]
struct Unread {
    all: bool,
    workspaces: BTreeSet<WorkspaceId>,
    jobs: HashSet<JobId>,
}

struct Watch {
    app: App,
    caller: Caller,
    query: Query,
    changes: Subscription,
    logs: Subscription,
    unread: Unread,
    /// A digest of each workspace that the caller knows of.
    known: HashMap<WorkspaceId, u64>,
    /// The jobs of builds that are going on, with the stage that was told.
    building: HashMap<JobId, (WorkspaceId, String)>,
    begun: bool,
    told: Instant,
    asked_stages: Instant,
    looked: Instant,
    renewed: Instant,
}

/// What a workspace looks like: all of it but what changes as long as it runs and no list shows.
fn digest(workspace: &wire::Workspace) -> Result<u64, Fail> {
    let mut seen = workspace.clone();
    seen.last_used_at = Default::default();
    seen.latest_build.updated_at = Default::default();
    for agent in seen
        .latest_build
        .resources
        .iter_mut()
        .flat_map(|r| r.agents.iter_mut())
    {
        agent.updated_at = Default::default();
        agent.last_connected_at = None;
        agent.latency.clear();
        agent.logs_length = 0;
    }
    let mut hasher = DefaultHasher::new();
    serde_json::to_vec(&seen)
        .map_err(Fail::internal)?
        .hash(&mut hasher);
    Ok(hasher.finish())
}

fn is_empty(changes: &wire::WorkspaceListChanges) -> bool {
    changes.changed.is_empty() && changes.gone.is_empty() && changes.stages.is_empty()
}

impl Watch {
    fn filter(&self) -> Result<WorkspaceFilter, Fail> {
        Ok(WorkspaceFilter::from_query(
            &self.query,
            &self.caller.user.username,
        )?)
    }

    fn heard(&mut self, event: &Event) {
        let id = match event {
            Event::Message(id) => id.parse().ok().map(WorkspaceId),
            Event::Missed => None,
        };
        match id {
            Some(id) if self.unread.workspaces.len() < self.known.len() + MANY => {
                self.unread.workspaces.insert(id);
            }
            _ => self.unread.all = true,
        }
    }

    fn heard_log(&mut self, event: &Event) {
        match event {
            Event::Message(id) => {
                let job = id.parse().ok().map(JobId);
                let ours = job.filter(|job| self.building.contains_key(job));
                self.unread.jobs.extend(ours);
            }
            Event::Missed => self.unread.jobs.extend(self.building.keys()),
        }
    }

    /// When to read, as far as one knows now.
    fn due(&self) -> Instant {
        let mut due = self.looked + LOOK_EVERY;
        if self.unread.all || !self.unread.workspaces.is_empty() {
            due = due.min(self.told + PAUSE);
        }
        if !self.unread.jobs.is_empty() {
            due = due.min(self.asked_stages + STAGE_PAUSE);
        }
        due.min(self.renewed + RENEW_EVERY)
    }

    async fn wait(&mut self) {
        loop {
            let due = self.due();
            // What there is to hear is heard even when it is time: many events make one read.
            tokio::select! {
                biased;
                event = self.changes.next() => self.heard(&event),
                event = self.logs.next() => self.heard_log(&event),
                () = tokio::time::sleep_until(due) => return,
            }
        }
    }

    /// Forgets what is found no more, and takes the rest to be read again.
    async fn look_at_all(&mut self) -> Result<wire::WorkspaceListChanges, Fail> {
        self.looked = Instant::now();
        self.unread.all = false;
        let found = self
            .app
            .store
            .workspace_list_ids(&self.caller.actor, &self.filter()?, Utc::now())
            .await?;
        self.unread.workspaces = found.into_iter().collect();
        let gone: Vec<WorkspaceId> = self
            .known
            .keys()
            .filter(|id| !self.unread.workspaces.contains(id))
            .copied()
            .collect();
        for id in &gone {
            self.forget(*id);
        }
        Ok(wire::WorkspaceListChanges {
            gone: gone.into_iter().map(|id| id.0).collect(),
            ..Default::default()
        })
    }

    fn forget(&mut self, id: WorkspaceId) -> bool {
        self.building.retain(|_, (workspace, _)| *workspace != id);
        self.known.remove(&id).is_some()
    }

    /// Reads some of what is unread.
    async fn read_workspaces(&mut self) -> Result<wire::WorkspaceListChanges, Fail> {
        let mut ids = Vec::with_capacity(BATCH);
        while ids.len() < BATCH
            && let Some(id) = self.unread.workspaces.pop_first()
        {
            ids.push(id);
        }
        let mut filter = self.filter()?;
        let mut asked: Vec<_> = ids.iter().map(|id| id.0).collect();
        if !filter.ids.is_empty() {
            asked.retain(|id| filter.ids.contains(id));
        }
        filter.ids = asked;
        let mut changes = wire::WorkspaceListChanges::default();
        let mut found = HashSet::new();
        // No ids are no condition.
        if !filter.ids.is_empty() {
            let (rows, _) = self
                .app
                .store
                .workspace_list(&self.caller.actor, &filter, Utc::now())
                .await?;
            let views = self.app.workspace_views(self.caller.user.id, &rows).await?;
            for workspace in views {
                let id = WorkspaceId(workspace.id);
                found.insert(id);
                self.note_job(&workspace);
                let digest = digest(&workspace)?;
                if self.known.insert(id, digest) != Some(digest) {
                    changes.changed.push(workspace);
                }
            }
        }
        for id in ids.into_iter().filter(|id| !found.contains(id)) {
            if self.forget(id) {
                changes.gone.push(id.0);
            }
        }
        Ok(changes)
    }

    /// Keeps an eye on a workspace's job for as long as it goes on.
    fn note_job(&mut self, workspace: &wire::Workspace) {
        let (id, job) = (WorkspaceId(workspace.id), &workspace.latest_build.job);
        let going_on = JobStatus::parse(job.status.as_str()).is_some_and(JobStatus::is_active);
        let job = JobId(job.id);
        if going_on && self.building.contains_key(&job) {
            return;
        }
        self.building.retain(|_, (workspace, _)| *workspace != id);
        if going_on {
            self.building.insert(job, (id, String::new()));
            self.unread.jobs.insert(job);
        }
    }

    async fn read_stages(&mut self) -> Result<Vec<wire::WorkspaceBuildStage>, Fail> {
        self.asked_stages = Instant::now();
        let jobs: Vec<JobId> = self.unread.jobs.drain().collect();
        let mut stages = Vec::new();
        for (job, stage) in self.app.store.job_stages(&jobs).await? {
            if let Some((workspace, told)) = self.building.get_mut(&job)
                && *told != stage
            {
                told.clone_from(&stage);
                stages.push(wire::WorkspaceBuildStage {
                    workspace_id: workspace.0,
                    stage,
                });
            }
        }
        Ok(stages)
    }

    /// Takes note of all there is without telling it.
    async fn begin(&mut self) -> Result<(), Fail> {
        self.look_at_all().await?;
        while !self.unread.workspaces.is_empty() {
            self.read_workspaces().await?;
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<wire::WorkspaceListChanges, Fail> {
        let now = Instant::now();
        // Whoever has lost a session or a role hears nothing more that it let them hear.
        self.caller = self.app.session_renew(&self.caller).await?;
        self.renewed = now;
        let mut changes = wire::WorkspaceListChanges::default();
        if self.unread.all || now >= self.looked + LOOK_EVERY {
            changes = self.look_at_all().await?;
        } else if !self.unread.workspaces.is_empty() {
            changes = self.read_workspaces().await?;
        }
        if !self.unread.jobs.is_empty() && now >= self.asked_stages + STAGE_PAUSE {
            changes.stages = self.read_stages().await?;
        }
        Ok(changes)
    }
}

impl Follow for Watch {
    type Item = wire::WorkspaceListChanges;

    /// Nothing at first, as a sign that from now on all is told; then what changes.
    async fn next(&mut self) -> Result<wire::WorkspaceListChanges, Fail> {
        if !self.begun {
            self.begin().await?;
            self.begun = true;
            return Ok(wire::WorkspaceListChanges::default());
        }
        loop {
            self.wait().await;
            let changes = self.read().await?;
            if !is_empty(&changes) {
                self.told = Instant::now();
                return Ok(changes);
            }
        }
    }
}

impl App {
    /// Follows the workspaces that a search finds, until the session ends. The first item is empty: a list that is
    /// read after it misses nothing.
    ///
    /// # Errors
    /// Names the key of the search that is wrong.
    pub fn workspace_list_watch(
        &self,
        caller: Caller,
        text: &str,
    ) -> Result<impl Stream<Item = Result<wire::WorkspaceListChanges, Fail>> + Send + use<>, Fail>
    {
        let pubsub = self.store.pubsub();
        let now = Instant::now();
        let watch = Watch {
            app: self.clone(),
            caller,
            query: search::parse(text, WORKSPACE_SEARCH_KEYS)?,
            changes: pubsub.subscribe(topics::EVERY_WORKSPACE),
            logs: pubsub.subscribe(topics::EVERY_JOB_LOG),
            unread: Unread::default(),
            known: HashMap::new(),
            building: HashMap::new(),
            begun: false,
            told: now - PAUSE,
            asked_stages: now - STAGE_PAUSE,
            looked: now,
            renewed: now,
        };
        watch.filter()?;
        Ok(follow(watch))
    }
}
