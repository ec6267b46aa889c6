//! The states of jobs, workspaces and agents, and how each follows from the facts (spec 03 §3.2–3.5).
//!
//! INVARIANT: the database computes a job's status by the same rules in a generated column; a test
//! of the store compares the two.

use chrono::{DateTime, Duration, Utc};

macro_rules! state {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word that the API and the database use.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one that a word names.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

state! {
    /// Where a provisioner job stands.
    JobStatus {
        /// Nobody has taken it yet.
        Pending = "pending",
        /// A provisioner works on it.
        Running = "running",
        /// Done.
        Succeeded = "succeeded",
        /// Somebody asked to stop it and the provisioner has not yet.
        Canceling = "canceling",
        /// Stopped on request.
        Canceled = "canceled",
        /// Ended with an error.
        Failed = "failed",
    }
}

impl JobStatus {
    /// Whether the job can still change anything.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Pending | Self::Running | Self::Canceling)
    }

    /// The status that follows from a job's facts, first match first.
    pub const fn of(error: bool, completed: bool, canceled: bool, started: bool) -> Self {
        match (error, completed, canceled, started) {
            (true, ..) => Self::Failed,
            (_, true, true, _) => Self::Canceled,
            (_, true, false, _) => Self::Succeeded,
            (_, false, true, _) => Self::Canceling,
            (_, false, false, false) => Self::Pending,
            (_, false, false, true) => Self::Running,
        }
    }
}

state! {
    /// What a build does to its workspace.
    Transition {
        /// Makes everything that runs.
        Start = "start",
        /// Removes what exists only while the workspace runs.
        Stop = "stop",
        /// Removes everything.
        Delete = "delete",
    }
}

state! {
    /// What a workspace is doing.
    WorkspaceStatus {
        /// Its build waits for a provisioner.
        Pending = "pending",
        /// Being started.
        Starting = "starting",
        /// Up.
        Running = "running",
        /// Being stopped.
        Stopping = "stopping",
        /// Down.
        Stopped = "stopped",
        /// Its last build failed.
        Failed = "failed",
        /// Its build is being canceled.
        Canceling = "canceling",
        /// Its last build was canceled.
        Canceled = "canceled",
        /// Being deleted.
        Deleting = "deleting",
        /// Gone.
        Deleted = "deleted",
    }
}

impl WorkspaceStatus {
    /// The status that follows from the latest build.
    pub const fn of(job: JobStatus, transition: Transition) -> Self {
        match (job, transition) {
            (JobStatus::Pending, _) => Self::Pending,
            (JobStatus::Running, Transition::Start) => Self::Starting,
            (JobStatus::Running, Transition::Stop) => Self::Stopping,
            (JobStatus::Running, Transition::Delete) => Self::Deleting,
            (JobStatus::Succeeded, Transition::Start) => Self::Running,
            (JobStatus::Succeeded, Transition::Stop) => Self::Stopped,
            (JobStatus::Succeeded, Transition::Delete) => Self::Deleted,
            (JobStatus::Canceling, _) => Self::Canceling,
            (JobStatus::Canceled, _) => Self::Canceled,
            (JobStatus::Failed, _) => Self::Failed,
        }
    }
}

state! {
    /// Whether an agent is reachable.
    AgentStatus {
        /// It has not connected yet.
        Connecting = "connecting",
        /// It is connected.
        Connected = "connected",
        /// It was connected.
        Disconnected = "disconnected",
        /// It has not connected in the time that its template allows.
        Timeout = "timeout",
    }
}

/// How long after its last sign of life an agent still counts as connected: two periods of 15 s.
pub const AGENT_INACTIVE_AFTER: Duration = Duration::seconds(30);

/// The times from which an agent's status follows.
#[derive(Clone, Copy, Debug)]
pub struct AgentTimes {
    /// When the build made it.
    pub created_at: DateTime<Utc>,
    /// When it first connected.
    pub first_connected_at: Option<DateTime<Utc>>,
    /// Its last sign of life.
    pub last_connected_at: Option<DateTime<Utc>>,
    /// When its connection ended.
    pub disconnected_at: Option<DateTime<Utc>>,
    /// How long it may take to connect; zero is for ever.
    pub connection_timeout: Duration,
}

impl AgentStatus {
    /// The status at `now`.
    pub fn at(now: DateTime<Utc>, times: &AgentTimes) -> Self {
        let Some(last) = times.first_connected_at.and(times.last_connected_at) else {
            let late = times.connection_timeout > Duration::zero()
                && now - times.created_at > times.connection_timeout;
            return if late {
                Self::Timeout
            } else {
                Self::Connecting
            };
        };
        if times.disconnected_at.is_some_and(|at| at >= last) || now - last > AGENT_INACTIVE_AFTER {
            return Self::Disconnected;
        }
        Self::Connected
    }
}

state! {
    /// Where an agent is in its life, as it reports it.
    AgentLifecycle {
        /// Made by the build.
        Created = "created",
        /// Start scripts run.
        Starting = "starting",
        /// A start script took too long.
        StartTimeout = "start_timeout",
        /// A start script failed.
        StartError = "start_error",
        /// Start scripts are done.
        Ready = "ready",
        /// Stop scripts run.
        ShuttingDown = "shutting_down",
        /// A stop script took too long.
        ShutdownTimeout = "shutdown_timeout",
        /// A stop script failed.
        ShutdownError = "shutdown_error",
        /// Stopped.
        Off = "off",
    }
}

/// Why an agent is not well; `None` when it is.
pub fn agent_complaint(status: AgentStatus, lifecycle: AgentLifecycle) -> Option<&'static str> {
    use AgentLifecycle as L;
    match (status, lifecycle) {
        (AgentStatus::Connecting | AgentStatus::Disconnected | AgentStatus::Timeout, L::Off) => {
            Some("agent is not running")
        }
        (AgentStatus::Timeout, _) => Some("agent is taking too long to connect"),
        (AgentStatus::Disconnected, _) => Some("agent has lost connection"),
        (_, L::StartError) => Some("agent startup script exited with an error"),
        (_, L::ShuttingDown | L::ShutdownTimeout | L::ShutdownError | L::Off) => {
            Some("agent is shutting down")
        }
        _ => None,
    }
}

state! {
    /// How an app's health check went last.
    AppHealth {
        /// It has none.
        Disabled = "disabled",
        /// No answer yet.
        Initializing = "initializing",
        /// It answers.
        Healthy = "healthy",
        /// It failed as often as its threshold.
        Unhealthy = "unhealthy",
    }
}

state! {
    /// Whether somebody may sign in.
    UserStatus {
        /// Uses the product.
        Active = "active",
        /// Has not for long, or never did; becomes active at sign-in.
        Dormant = "dormant",
        /// May not.
        Suspended = "suspended",
    }
}

state! {
    /// How somebody signs in.
    LoginType {
        /// With a password.
        Password = "password",
        /// With GitHub.
        Github = "github",
        /// With OpenID Connect.
        Oidc = "oidc",
        /// With tokens only.
        Token = "token",
        /// Not at all.
        None = "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jobs_status_is_the_first_that_matches() {
        use JobStatus as S;
        for (error, completed, canceled, started, status) in [
            (false, false, false, false, S::Pending),
            (false, false, false, true, S::Running),
            (false, true, false, true, S::Succeeded),
            (false, false, true, true, S::Canceling),
            (false, true, true, true, S::Canceled),
            (true, true, true, true, S::Failed),
            (true, false, false, true, S::Failed),
        ] {
            assert_eq!(S::of(error, completed, canceled, started), status);
        }
    }

    #[test]
    fn an_agents_status_follows_from_its_times() {
        let t = |s: i64| DateTime::from_timestamp(1_000_000 + s, 0).unwrap();
        let never = AgentTimes {
            created_at: t(0),
            first_connected_at: None,
            last_connected_at: None,
            disconnected_at: None,
            connection_timeout: Duration::seconds(120),
        };
        let once = AgentTimes {
            first_connected_at: Some(t(1)),
            last_connected_at: Some(t(60)),
            ..never
        };
        for (now, times, status) in [
            (t(5), never, AgentStatus::Connecting),
            (t(121), never, AgentStatus::Timeout),
            (
                t(9999),
                AgentTimes {
                    connection_timeout: Duration::zero(),
                    ..never
                },
                AgentStatus::Connecting,
            ),
            (t(61), once, AgentStatus::Connected),
            (t(91), once, AgentStatus::Disconnected),
            (
                t(61),
                AgentTimes {
                    disconnected_at: Some(t(60)),
                    ..once
                },
                AgentStatus::Disconnected,
            ),
            (
                t(61),
                AgentTimes {
                    disconnected_at: Some(t(30)),
                    ..once
                },
                AgentStatus::Connected,
            ),
        ] {
            assert_eq!(AgentStatus::at(now, &times), status, "{now} {times:?}");
        }
    }

    #[test]
    fn words_read_back_as_what_they_name() {
        for status in WorkspaceStatus::ALL {
            assert_eq!(WorkspaceStatus::parse(status.as_str()), Some(*status));
        }
    }
}
