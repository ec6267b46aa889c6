//! Agents that lose their server, and agents that are killed.

use crate::balancer::Balancer;
use crate::deployment::{Deployment, mark};
use crate::machine::{self, processes, until};
use crate::terminal::Terminal;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the network stays cut: longer than either end waits for the other.
const CUT: Duration = Duration::from_secs(60);

/// A deployment whose agents reach it over a network that can be cut, for one test at a time.
static DISTANT: LazyLock<Mutex<(Deployment, Balancer)>> = LazyLock::new(|| {
    let balancer = Balancer::start();
    let deployment = Deployment::start("distant", &[("CODER_ACCESS_URL", &balancer.url)]);
    balancer.point_at(&deployment);
    deployment.first_user();
    deployment.push_local();
    Mutex::new((deployment, balancer))
});

fn agent_of(mark: &str) -> Option<u32> {
    let all = processes(mark);
    let agent = all.iter().find(|(_, line)| line.contains("coder agent"))?;
    Some(agent.0)
}

#[test]
fn an_agent_whose_network_was_cut_connects_again_and_its_terminal_resumes_with_its_scrollback() {
    let distant = DISTANT.lock().unwrap_or_else(PoisonError::into_inner);
    let (deployment, balancer) = &*distant;
    deployment
        .coder(&["create", "cut", "-t", "local", "-y"])
        .ok();
    let row = deployment.workspace("cut");
    let agent = agent_of(&mark(&row)).unwrap();
    let id = "5a0c2f0e-7d5e-4d5c-9a51-3f6f0d6b7a01";
    let mut terminal = Terminal::open(deployment, &row, id);
    terminal.enter("variable=kept; echo before-$((40 + 2))");
    terminal.shows("before-42");

    let cut_at = Instant::now();
    balancer.cut();
    until("the server notices", || {
        let row = deployment.workspace("cut");
        let resources = row["latest_build"]["resources"].as_array()?;
        let agent = resources.iter().find_map(|r| r["agents"].get(0))?;
        (agent["status"] != "connected").then_some(())
    });
    std::thread::sleep(CUT.saturating_sub(cut_at.elapsed()));
    balancer.point_at(deployment);
    deployment.connected("cut");
    let mut terminal = Terminal::open(deployment, &row, id);
    terminal.shows("before-42");
    terminal.enter("echo $variable-$((50 + 3))");
    terminal.shows("kept-53");
    deployment.coder(&["ssh", "cut", "--", "exit 4"]).exits(4);
    assert_eq!(agent_of(&mark(&row)), Some(agent));
    deployment.coder(&["delete", "cut", "-y"]).ok();
}

#[test]
fn an_agent_that_is_killed_comes_back_and_its_workspace_can_still_be_stopped() {
    let distant = DISTANT.lock().unwrap_or_else(PoisonError::into_inner);
    let (deployment, _) = &*distant;
    deployment
        .coder(&["create", "killed", "-t", "local", "-y"])
        .ok();
    let mark = mark(&deployment.workspace("killed"));
    let first = agent_of(&mark).unwrap();
    machine::signal(first, "KILL");
    let second = until("another agent runs", || {
        agent_of(&mark).filter(|agent| *agent != first)
    });
    until("the workspace can be entered again", || {
        let ended = deployment.coder(&["ssh", "killed", "--", "exit 4"]);
        (ended.code == 4).then_some(())
    });
    deployment.connected("killed");
    assert_eq!(agent_of(&mark), Some(second));
    deployment.coder(&["stop", "killed", "-y"]).ok();
    assert_eq!(processes(&mark), []);
    deployment.coder(&["delete", "killed", "-y"]).ok();
}
