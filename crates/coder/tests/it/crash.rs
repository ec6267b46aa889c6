//! Servers that end without a warning. Nothing that was acknowledged is lost, and nothing is left behind.

use crate::deployment::{Deployment, mark};
use crate::machine::{processes, until};
use crate::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A deployment with the template `slow`.
fn slow_deployment(name: &str) -> Deployment {
    let deployment = Deployment::start(name, &[]);
    deployment.first_user();
    deployment.push_slow();
    deployment
}

/// The deployment whose server these tests kill, one after the other.
fn victim() -> MutexGuard<'static, Deployment> {
    static VICTIM: LazyLock<Mutex<Deployment>> =
        LazyLock::new(|| Mutex::new(slow_deployment("crash")));
    // A test that failed with the server killed says so itself; the other one then fails too.
    VICTIM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the server in the middle of an apply: when the job has begun (0), or at a step of the template.
fn killed_at(step: usize) {
    let deployment = victim();
    let name = format!("step{step}");
    let hold = deployment.hold_file(&name);
    fs::write(&hold, step.max(1).to_string()).unwrap();
    deployment
        .coder(&["create", &name, "-t", "slow", "-y", "--no-wait"])
        .ok();
    if step == 0 {
        until("the job runs", || {
            let status = deployment.workspace(&name)["latest_build"]["job"]["status"].clone();
            (status == "running").then_some(())
        });
    } else {
        deployment.reached(&name, step);
    }
    deployment.kill();
    let job = ended_after_restart(&deployment, &name);
    assert_eq!(job["status"], "failed", "{job}");
    fs::remove_file(&hold).unwrap();
    goes_on(&deployment, &name, step % 2 == 1);
}

/// Starts a killed server again, and gives the job of the workspace's build once that has ended.
fn ended_after_restart(deployment: &Deployment, name: &str) -> Value {
    // Terraform and what it started end with the server, not with the next start of it.
    until("Terraform has ended", || {
        let hold = format!("HOLD={}", deployment.hold_file(name).display());
        let cache = format!("{}/", deployment.dir.join("cache").display());
        let left = processes(&hold).len()
            + processes(&cache)
                .iter()
                .filter(|(_, line)| line.contains("terraform"))
                .count();
        (left == 0).then_some(())
    });
    deployment.boot();
    let job = until("the job has ended", || {
        let job = deployment.workspace(name)["latest_build"]["job"].clone();
        let over = !["pending", "running", "canceling"].contains(&job["status"].as_str()?);
        over.then_some(job)
    });
    if job["status"] != "succeeded" {
        let reason = job["error"].as_str().unwrap_or_default();
        assert!(!reason.is_empty(), "{job}");
    }
    job
}

/// Brings the workspace up if `start`, then deletes it: both ways on have to work from every state.
fn goes_on(deployment: &Deployment, name: &str, start: bool) {
    let mark = mark(&deployment.workspace(name));
    if start {
        deployment.coder(&["start", name, "-y"]).ok();
        deployment.coder(&["ssh", name, "--", "true"]).ok();
    }
    deployment.coder(&["delete", name, "-y"]).ok();
    assert_eq!(deployment.find(name), None);
    assert_eq!(processes(&mark), []);
    assert!(
        !deployment.data().join("ann").exists(),
        "the home of {name} is still there"
    );
}

#[test]
fn a_server_killed_when_a_build_begins_ends_it_with_a_reason_after_its_restart() {
    killed_at(0);
}

#[test]
fn a_server_killed_at_the_first_step_of_an_apply_leaves_a_workspace_that_can_be_started_and_deleted()
 {
    killed_at(1);
}

#[test]
fn a_server_killed_at_the_second_step_of_an_apply_leaves_a_workspace_that_can_be_deleted() {
    killed_at(2);
}

#[test]
fn a_server_killed_just_after_the_agent_was_started_leaves_a_workspace_that_can_be_started_and_deleted()
 {
    killed_at(3);
}

#[test]
fn a_server_killed_at_the_fourth_step_of_an_apply_leaves_a_workspace_that_can_be_deleted() {
    killed_at(4);
}

#[test]
fn a_server_killed_at_the_last_step_of_an_apply_leaves_a_workspace_that_can_be_started_and_deleted()
{
    killed_at(5);
}

/// Creates a workspace, kills the server when `moment` returns, and goes on from there.
fn killed_after(deployment: &Deployment, name: &str, start: bool, moment: impl FnOnce()) {
    deployment
        .coder(&["create", name, "-t", "slow", "-y", "--no-wait"])
        .ok();
    moment();
    deployment.kill();
    ended_after_restart(deployment, name);
    goes_on(deployment, name, start);
}

/// Besides the six known moments above, fourteen by the clock. First from before the job is taken until after the build:
#[test]
fn a_server_killed_at_any_time_of_a_build_leaves_a_workspace_that_can_be_started_and_deleted() {
    let deployment = slow_deployment("moments");
    for moment in 0..8_u32 {
        let name = format!("moment{moment}");
        killed_after(&deployment, &name, moment % 2 == 1, || {
            std::thread::sleep(Duration::from_millis(150) * moment);
        });
    }
}

/// And then more closely where Terraform has ended, and what it left goes from its directory to the database.
#[test]
fn a_server_killed_at_the_end_of_a_build_leaves_a_workspace_that_can_be_started_and_deleted() {
    let deployment = slow_deployment("ends");
    for moment in 0..6_u32 {
        let name = format!("end{moment}");
        killed_after(&deployment, &name, moment % 2 == 1, || {
            deployment.reached(&name, 5);
            std::thread::sleep(Duration::from_millis(30) * moment);
        });
    }
}

#[test]
fn the_agent_outlives_a_killed_server_and_connects_to_the_next_one() {
    let deployment = victim();
    deployment
        .coder(&["create", "steady", "-t", "slow", "-y"])
        .ok();
    let mark = mark(&deployment.workspace("steady"));
    let agents = || -> Vec<u32> {
        let all = processes(&mark);
        let agents = all.iter().filter(|(_, line)| line.contains("agent"));
        agents.map(|(pid, _)| *pid).collect()
    };
    deployment
        .coder(&["ssh", "steady", "--", "echo before > file"])
        .ok();
    let terminal = "c1d9a9d4-58f0-4f4e-8f7e-0c6f6a3a9b02";
    let row = deployment.workspace("steady");
    let mut first = Terminal::open(&deployment, &row, terminal);
    first.enter("echo shown-$((40 + 2))");
    first.shows("shown-42");
    let before = agents();
    assert!(!before.is_empty());
    deployment.kill();
    assert_eq!(agents(), before);
    deployment.boot();
    until("the workspace can be entered again", || {
        let read = deployment.coder(&["ssh", "steady", "--", "cat file"]);
        (read.code == 0 && read.out() == "before\n").then_some(())
    });
    Terminal::open(&deployment, &row, terminal).shows("shown-42");
    deployment.connected("steady");
    assert_eq!(agents(), before);
    // The next test finds the deployment without workspaces.
    deployment.coder(&["delete", "steady", "-y"]).ok();
    assert_eq!(processes(&mark), []);
}
