//! `coder devcontainer features test`: tests of a collection, run by BuildKit.

use std::fs;

use serde_json::json;

use crate::support::base::Base;
use crate::support::buildkit::BuildKit;
use crate::support::command::{Finished, run, wait};
use crate::support::registry::Registry;

const TEST: &str = "#!/bin/sh\nset -e\n. ./dev-container-features-test-lib\n";

#[test]
fn tests_of_features_run_as_the_user_with_environment_and_hooks() {
    let (registry, buildkit) = (Registry::start(), BuildKit::shared());
    let base = wait(Base::new("base", json!({"Env": ["PATH=/bin"]})).to(&registry.host));
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let spec = json!({"id": "hello", "version": "1.0.0", "containerEnv": {"HELLO": "1"},
        "options": {"greeting": {"type": "string", "default": "world"}}, "onCreateCommand": "echo $REMOTE >/tmp/hooked"});
    write("src/hello/devcontainer-feature.json", &spec.to_string());
    write(
        "src/hello/install.sh",
        "#!/bin/sh\necho \"hello $GREETING\" >/hello\n",
    );
    let spec = json!({"id": "broken", "version": "1.0.0", "dependsOn": {"./hello": {}}});
    write("src/broken/devcontainer-feature.json", &spec.to_string());
    write("src/broken/install.sh", "#!/bin/sh\nexit 4\n");
    let own = "check file grep -q 'hello world' /hello\ncheck env [ \"$HELLO\" = 1 ]\ncheck hook [ -e /tmp/hooked ]\n\
        checkMultiple some 1 false 'grep -q world /hello'\nreportResults\n";
    write("test/hello/test.sh", &format!("{TEST}{own}"));
    write("test/broken/test.sh", TEST);
    let scenarios = json!({
        "as_dev": {"image": base, "remoteUser": "dev", "remoteEnv": {"REMOTE": "r"}, "features": {"hello": {"greeting": "you"}}},
        "fails": {"build": {"dockerfile": "Dockerfile"}, "features": {"hello": {}}},
    });
    write(
        "test/hello/scenarios.json",
        &format!("// notes\n{scenarios}"),
    );
    let as_dev = "check user [ \"$(id -u)\" = 1000 ]\ncheck option grep -q 'hello you' /hello\ntouch own\n\
        check hook grep -q r /tmp/hooked\nreportResults\n";
    write("test/hello/as_dev.sh", &format!("{TEST}{as_dev}"));
    write(
        "test/hello/fails.sh",
        &format!("{TEST}check built cat /built || true\ncheck no false || true\nreportResults\n"),
    );
    write(
        "test/hello/fails/Dockerfile",
        &format!("FROM {base}\nRUN echo built >/built\n"),
    );
    let test = |args: &[&str]| -> Finished {
        let env = [("BUILDKIT_HOST", buildkit.tcp.as_str())];
        run(
            dir.path(),
            &env,
            &[&["features", "test", "--base-image", &base], args].concat(),
        )
    };
    let all = test(&[]);
    assert!(!all.ok, "{all:?}");
    let report = "================== TEST REPORT ==================\n❌ Failed:      'broken'\n\
        ✅ Passed:      'hello'\n✅ Passed:      'as_dev'\n❌ Failed:      'fails'\n";
    assert_eq!(all.out, report, "{}", all.err);
    for wanted in [
        "./broken",
        "exit code 4",
        "failed checks: 'no'",
        "passed: built",
        "passed: some",
    ] {
        assert!(all.err.contains(wanted), "{wanted}: {}", all.err);
    }
    let some = test(&["--features", "hello", "--filter", "dev", "--quiet"]).ok();
    assert!(
        some.out.ends_with("'hello'\n✅ Passed:      'as_dev'\n"),
        "{some:?}"
    );
    assert!(!some.err.contains("passed:"), "{some:?}");
    let own = test(&["-f", "hello", "--skip-scenarios"]).ok();
    assert!(
        own.out
            .ends_with("REPORT ==================\n✅ Passed:      'hello'\n"),
        "{own:?}"
    );
    let unknown = test(&["-f", "other"]);
    assert!(
        !unknown.ok && unknown.err.contains("src/other"),
        "{unknown:?}"
    );
    let kept = test(&["--preserve-test-containers"]);
    assert!(
        !kept.ok && kept.err.contains("--preserve-test-containers"),
        "{kept:?}"
    );
}

#[test]
fn a_folder_that_is_no_collection_is_named_with_what_to_give() {
    let dir = tempfile::tempdir().unwrap();
    let finished = run(dir.path(), &[], &["features", "test"]);
    assert!(!finished.ok);
    assert!(
        finished.err.contains("--project-folder"),
        "{}",
        finished.err
    );
}
