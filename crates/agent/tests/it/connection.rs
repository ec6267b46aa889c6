//! Getting and keeping the connection to the control plane.

use crate::plane::{Plane, Running, Setup, manifest};
use coder_proto::agent::lifecycle::State;

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_refused_tries_again_and_says_what_it_speaks() {
    let plane = Plane::start(Setup {
        manifest: manifest(),
        refusals: 3,
        ..Default::default()
    })
    .await;
    let running = Running::start(plane.options());
    plane.state(State::Ready).await;
    plane
        .wait("the request", |seen| {
            let (target, headers) = &seen.requests[0];
            assert_eq!(
                target,
                "/api/v2/workspaceagents/me/rpc?version=2.10&role=agent"
            );
            assert_eq!(headers, "1yes");
            Some(())
        })
        .await;
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_made_again_without_starting_over() {
    let plane = Plane::start(Setup {
        manifest: manifest(),
        ..Default::default()
    })
    .await;
    let running = Running::start(plane.options());
    plane.state(State::Ready).await;
    for _ in 0..3 {
        plane.cut().await;
    }
    plane
        .wait("another startup", |seen| {
            (seen.startups.len() >= 2).then_some(())
        })
        .await;
    running.stop().await;
    plane
        .wait("the states", |seen| {
            assert_eq!(
                seen.distinct_states(),
                [
                    State::Starting,
                    State::Ready,
                    State::ShuttingDown,
                    State::Off
                ]
            );
            Some(())
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_control_plane_stops_when_told() {
    let plane = Plane::start(Setup {
        manifest: manifest(),
        refusals: u32::MAX,
        ..Default::default()
    })
    .await;
    Running::start(plane.options()).stop().await;
}
