//! What Terraform accepts as a mirror.

use std::path::PathBuf;

use crate::support::{Project, provider};

const CONFIG: &str = "data \"coder_provisioner\" \"me\" {}\n";

/// Where the mirror of a project has the program.
fn place(project: &Project) -> PathBuf {
    let version = project
        .dir
        .path()
        .join("mirror/registry.terraform.io/coder/coder")
        .join(coder_tfplugin::VERSION);
    let platforms: Vec<_> = std::fs::read_dir(version)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(platforms.len(), 1);
    platforms[0].join(format!(
        "{}{}",
        coder_tfplugin::PROGRAM_PREFIX,
        coder_tfplugin::VERSION
    ))
}

#[test]
fn terraform_accepts_a_hard_link_a_symbolic_link_and_a_copy() {
    let project = Project::without_init(CONFIG);
    let place = place(&project);
    let init_and_plan = |kind| {
        project.run_ok(&["init", "-input=false", "-no-color"]);
        let plan = project.run_ok(&["plan", "-input=false", "-no-color"]);
        assert!(plan.contains("No changes"), "{kind}: {plan}");
    };
    init_and_plan("as written");
    std::fs::remove_file(&place).unwrap();
    std::os::unix::fs::symlink(provider(), &place).unwrap();
    init_and_plan("symbolic link");
    std::fs::remove_file(&place).unwrap();
    std::fs::copy(provider(), &place).unwrap();
    init_and_plan("copy");
}

#[test]
fn a_plugin_cache_does_not_get_in_the_way() {
    let project = Project::without_init(CONFIG);
    let cache = project.dir.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    let project = project.env("TF_PLUGIN_CACHE_DIR", cache.to_str().unwrap());
    project.run_ok(&["init", "-input=false", "-no-color"]);
    project.run_ok(&["plan", "-input=false", "-no-color"]);
}
