//! Providers of others beside ours, from a mirror and without a network: check 74.

use crate::support::{Sink, build_job, import_job, names, path_var, template};
use crate::with_provider::{arch, bench, provider};
use coder_provisioner::env::Transition::{Delete, Start};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A mirror with somebody else's provider. To Terraform it is another one, whatever program stands behind it; the
/// program records its environment.
fn foreign_mirror(dir: &Path) -> PathBuf {
    let mirror = dir.join("foreign");
    let at = mirror.join(format!("example.test/acme/other/1.4.0/linux_{}", arch()));
    fs::create_dir_all(&at).unwrap();
    let real = dir.join("terraform-provider-coder_v2.17.0");
    symlink(provider(), &real).unwrap();
    let program = at.join("terraform-provider-other_v1.4.0");
    let text = format!(
        "#!/bin/sh\nenv >>{}\nexec {} \"$@\"\n",
        dir.join("seen").display(),
        real.display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    mirror
}

const TEMPLATE: &str = r#"
terraform {
  required_providers {
    coder = {
      source = "coder/coder"
    }
    other = {
      source  = "example.test/acme/other"
      version = "~> 1.4"
    }
  }
}
data "coder_workspace" "me" {}
data "coder_provisioner" "theirs" {
  provider = other
}
resource "coder_agent" "main" {
  os   = "linux"
  arch = data.coder_provisioner.theirs.arch
}
resource "coder_env" "theirs" {
  provider = other
  agent_id = coder_agent.main.id
  name     = "WHERE"
  value    = data.coder_workspace.me.name
}
resource "terraform_data" "pod" {
  input = [coder_agent.main.id, coder_env.theirs.value]
}
"#;

#[tokio::test]
async fn check_074_a_provider_of_others_is_imported_and_applied_from_a_mirror_beside_ours() {
    let bench = bench(|dir, options| {
        let mirror = foreign_mirror(dir);
        let config = dir.join("user.tfrc");
        // Whatever is not in the mirror cannot be had.
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path    = \"{}\"\n    include = [\"example.test/*/*\"]\n  }}\n}}\n",
            mirror.display()
        );
        fs::write(&config, text).unwrap();
        options.env = Some(vec![
            ("PATH".into(), path_var()),
            ("HOME".into(), dir.join("home").into()),
            ("TF_CLI_CONFIG_FILE".into(), config.into()),
            ("OTHER_TOKEN".into(), "for-the-provider".into()),
            ("CODER_DONT_PASS".into(), "canary".into()),
        ]);
    })
    .await;
    let imported = bench
        .engine
        .import(import_job(template(TEMPLATE)), &Sink::default())
        .await
        .unwrap();
    let pod = imported.start.iter().find(|r| r.name == "pod").unwrap();
    assert_eq!(pod.agents[0].architecture, arch());

    let job = build_job(template(TEMPLATE), Start, b"");
    let built = bench.build(job, &Sink::default()).await;
    assert!(built.error.is_none(), "{:?}", built.error);
    assert!(names(&built.state).contains(&"theirs".to_owned()));
    let state = String::from_utf8_lossy(&built.state).into_owned();
    assert!(state.contains("example.test/acme/other"), "{state}");
    let gone = build_job(template(TEMPLATE), Delete, &built.state);
    let gone = bench.build(gone, &Sink::default()).await;
    assert!(gone.error.is_none() && names(&gone.state).is_empty());

    let seen = fs::read_to_string(bench.path("seen")).unwrap();
    assert!(seen.contains("OTHER_TOKEN=for-the-provider"));
    assert!(!seen.contains("CODER_DONT_PASS"));
    bench.assert_clean();
}
