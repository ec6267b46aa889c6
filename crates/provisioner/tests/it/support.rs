//! Templates, engines and a sink that remembers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use coder_provisioner::env::Transition;
use coder_provisioner::{
    BuildJob, BuildOutcome, BuildRequest, Cancel, Engine, EngineOptions, Events, ImportJob,
    LogEntry, LogLevel, VariableValue,
};

/// A directory for one test with an engine in it.
pub struct Bench {
    pub dir: tempfile::TempDir,
    pub engine: Engine,
}

pub fn path_var() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub fn options(dir: &Path) -> EngineOptions {
    let home = dir.join("home");
    fs::create_dir_all(&home).unwrap();
    let mut options = EngineOptions::new(dir.join("cache"), dir.join("work"));
    options.env = Some(vec![
        ("PATH".into(), path_var()),
        ("HOME".into(), home.into()),
        ("CODER_DONT_PASS".into(), "canary".into()),
        ("FROM_THE_MACHINE".into(), "passes".into()),
    ]);
    options
}

impl Bench {
    pub async fn new() -> Bench {
        Bench::with(|_, _| {}).await
    }

    pub async fn with(change: impl FnOnce(&Path, &mut EngineOptions)) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let mut options = options(dir.path());
        change(dir.path(), &mut options);
        let engine = Engine::find(options)
            .await
            .expect("terraform 1.5 or later must be on PATH for these tests");
        Bench { dir, engine }
    }

    /// Runs a build as a caller who has saved its state.
    pub async fn build(&self, job: BuildJob, events: &Sink) -> BuildOutcome {
        let mut outcome = self.engine.build(job, events).await;
        if let Some(unsaved) = outcome.unsaved.take() {
            unsaved.saved();
        }
        outcome
    }

    /// The jobs' directory holds nothing any more.
    pub fn assert_clean(&self) {
        let work = self.dir.path().join("work");
        let left = fs::read_dir(work).map(|d| d.count()).unwrap_or(0);
        assert_eq!(left, 0, "a job left its directory behind");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

pub fn tar(files: &[(&str, &str)]) -> Arc<[u8]> {
    let mut b = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut h = tar::Header::new_gnu();
        h.set_size(text.len() as u64);
        h.set_mode(0o644);
        b.append_data(&mut h, name, text.as_bytes()).unwrap();
    }
    b.into_inner().unwrap().into()
}

pub fn template(text: &str) -> Arc<[u8]> {
    tar(&[("main.tf", text)])
}

pub fn import_job(archive: Arc<[u8]>) -> ImportJob {
    ImportJob {
        id: "import".into(),
        archive,
        variables: Vec::new(),
        request: BuildRequest::placeholder("http://coder.test", Transition::Start),
        cancel: Cancel::new(),
    }
}

pub fn build_job(archive: Arc<[u8]>, transition: Transition, state: &[u8]) -> BuildJob {
    let mut request = BuildRequest::placeholder("http://coder.test", transition);
    request.workspace_id = "11111111-1111-4111-8111-111111111111".into();
    request.workspace_name = "w1".into();
    request.owner.username = "ann".into();
    BuildJob {
        id: "build".into(),
        archive,
        variables: Vec::new(),
        request,
        state: state.to_vec(),
        graph: None,
        cancel: Cancel::new(),
    }
}

pub fn variable(name: &str, value: &str) -> VariableValue {
    VariableValue::new(name, value)
}

type OnState = Box<dyn Fn(&[u8]) + Send + Sync>;
type OnLog = Box<dyn Fn(&LogEntry) + Send + Sync>;

/// Remembers everything.
#[derive(Default)]
pub struct Sink {
    pub logs: Mutex<Vec<LogEntry>>,
    pub states: Mutex<Vec<Vec<u8>>>,
    pub on_state: Option<OnState>,
    pub on_log: Option<OnLog>,
}

impl Events for Sink {
    fn log(&self, entry: LogEntry) {
        if let Some(f) = &self.on_log {
            f(&entry);
        }
        self.logs.lock().unwrap().push(entry);
    }
    fn state(&self, state: &[u8]) {
        if let Some(f) = &self.on_state {
            f(state);
        }
        self.states.lock().unwrap().push(state.to_vec());
    }
}

impl Sink {
    /// The stages in the order they began.
    pub fn stages(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for e in self.logs.lock().unwrap().iter() {
            if out.last() != Some(&e.stage) {
                out.push(e.stage.clone());
            }
        }
        out
    }

    pub fn text(&self) -> String {
        let all = self.logs.lock().unwrap();
        all.iter().map(|e| format!("{}\n", e.output)).collect()
    }

    pub fn errors(&self) -> Vec<String> {
        let all = self.logs.lock().unwrap();
        let errors = all.iter().filter(|e| e.level == LogLevel::Error);
        errors.map(|e| e.output.clone()).collect()
    }
}

/// Names of the managed resources in a state.
pub fn names(state: &[u8]) -> Vec<String> {
    let v: serde_json::Value = serde_json::from_slice(state).unwrap();
    let all = v["resources"].as_array().unwrap();
    let managed = all.iter().filter(|r| r["mode"] == "managed");
    managed
        .map(|r| r["name"].as_str().unwrap().to_owned())
        .collect()
}
