//! Two servers on one database.

use crate::balancer::Balancer;
use crate::deployment::{Deployment, mark};
use crate::machine::{self, Background, noise, run, sha256, until};
use coder_store::embedded::TestCluster;
use std::fs;
use std::process::Stdio;

#[test]
fn what_one_replica_runs_can_be_watched_and_entered_at_the_other_and_goes_on_there() {
    let cluster = TestCluster::start().unwrap();
    let balancer = Balancer::start();
    let start = |name, daemons| {
        Deployment::start(
            name,
            &[
                ("CODER_PG_CONNECTION_URL", cluster.url()),
                ("CODER_ACCESS_URL", &balancer.url),
                ("CODER_PROVISIONER_DAEMONS", daemons),
            ],
        )
    };
    let a = start("replica-a", "3");
    balancer.point_at(&a);
    let b = start("replica-b", "0");
    a.first_user();
    a.push_slow();
    let token = a.session();
    let at_b = |args: &[&str]| {
        let mut command = b.command(args);
        command
            .env("CODER_URL", &b.url)
            .env("CODER_SESSION_TOKEN", &token);
        command
    };

    // A builds, B shows the log while the build still goes on.
    let hold = a.hold_file("pair");
    fs::write(&hold, "4").unwrap();
    a.coder(&["create", "pair", "-t", "slow", "-y", "--no-wait"])
        .ok();
    let log = b.dir.join("followed");
    let mut follower = at_b(&["logs", "-f", "pair"]);
    follower
        .stdout(fs::File::create(&log).unwrap())
        .stderr(Stdio::inherit());
    let follower = Background::start(&mut follower);
    let followed = || fs::read_to_string(&log).unwrap();
    until("B shows the step that A is held at", || {
        followed()
            .contains("terraform_data.step_4[0]: Provisioning with 'local-exec'")
            .then_some(())
    });
    assert!(!followed().contains("Apply complete!"));
    assert_eq!(
        a.workspace("pair")["latest_build"]["job"]["status"],
        "running"
    );
    fs::remove_file(&hold).unwrap();
    until("B shows the end of the build", || {
        followed().contains("Apply complete!").then_some(())
    });

    // The agent is at A; B reaches it through A.
    a.connected("pair");
    let mark = mark(&a.workspace("pair"));
    let uname = run(&mut at_b(&["ssh", "pair", "--", "uname; exit 5"]), b"").exits(5);
    assert_eq!(uname.out(), "Linux\n");
    let bytes = noise(5 << 20);
    let both = run(&mut at_b(&["ssh", "pair", "--", "cat"]), &bytes).ok();
    assert_eq!(sha256(&both.stdout), sha256(&bytes));

    // A ends; the balancer sends everybody to B.
    a.stop();
    balancer.point_at(&b);
    assert_eq!(run(&mut at_b(&["whoami", "-o", "json"]), b"").ok().code, 0);
    let list = run(&mut at_b(&["list"]), b"").ok().out();
    assert!(list.contains("ann/pair"), "{list}");
    until("the workspace can be entered at B", || {
        let ended = run(&mut at_b(&["ssh", "pair", "--", "exit 6"]), b"");
        (ended.code == 6).then_some(())
    });
    drop(follower);

    // Whoever has daemons builds: B comes back with some, and deletes what A made.
    b.stop();
    let c = start("replica-c", "1");
    balancer.point_at(&c);
    let mut delete = c.command(&["delete", "pair", "-y"]);
    delete
        .env("CODER_URL", &c.url)
        .env("CODER_SESSION_TOKEN", &token);
    run(&mut delete, b"").ok();
    assert_eq!(machine::processes(&mark), []);
    c.stop();
}
