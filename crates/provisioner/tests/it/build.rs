//! Builds: apply, state, delete, and what a failure leaves.

use std::fs;

use coder_provisioner::env::ParameterValue;
use coder_provisioner::env::Transition::{Delete, Start};
use coder_provisioner::timings::TimingStage;
use coder_provisioner::{BuildRequest, Cancel, JobError, PlanJob};

use crate::support::{Bench, Sink, build_job, names, tar, template, variable};

const TWO: &str = r#"
resource "terraform_data" "a" { input = "x" }
resource "terraform_data" "b" {
  input = terraform_data.a.output
  provisioner "local-exec" { command = "echo hello from b" }
}
"#;

#[tokio::test]
async fn a_workspace_is_built_and_deleted() {
    let bench = Bench::new().await;
    let sink = Sink::default();
    let up = bench
        .build(build_job(template(TWO), Start, b""), &sink)
        .await;
    assert!(up.error.is_none(), "{:?}", up.error);
    assert_eq!(names(&up.state), ["a", "b"]);
    let found: Vec<_> = up.resources.iter().map(|r| r.address.as_str()).collect();
    assert_eq!(found, ["terraform_data.a", "terraform_data.b"]);
    assert_eq!(
        sink.stages(),
        [
            "Setting up",
            "Parsing template parameters",
            "Initializing Terraform Directory",
            "Graphing Infrastructure",
            "Planning Infrastructure",
            "Starting workspace",
            "Cleaning Up",
        ]
    );
    assert!(sink.text().contains("hello from b"));
    assert!(sink.errors().is_empty());
    let applied = |r: &&coder_provisioner::timings::Timing| r.stage == TimingStage::Apply;
    let rows: Vec<_> = up.timings.iter().filter(applied).collect();
    assert!(
        rows.iter()
            .any(|r| r.action == "create" && r.resource == "terraform_data.b")
    );
    assert!(up.timings.iter().any(|r| r.stage == TimingStage::Init));
    assert!(up.timings.iter().any(|r| r.stage == TimingStage::Graph));
    bench.assert_clean();

    let sink = Sink::default();
    let gone = bench
        .build(build_job(template(TWO), Delete, &up.state), &sink)
        .await;
    assert!(gone.error.is_none(), "{:?}", gone.error);
    assert!(names(&gone.state).is_empty());
    assert!(gone.resources.is_empty());
    assert!(sink.stages().contains(&"Destroying workspace".to_owned()));
    let steps: Vec<_> = gone.steps.iter().map(|s| s.name.as_str()).collect();
    assert!(
        steps.contains(&"restore") && !steps.contains(&"init"),
        "{steps:?}"
    );
    bench.assert_clean();
}

#[tokio::test]
async fn deleting_nothing_needs_no_terraform() {
    let bench = Bench::new().await;
    let sink = Sink::default();
    let done = bench
        .build(build_job(template("not { hcl"), Delete, b""), &sink)
        .await;
    assert!(done.error.is_none());
    assert!(done.state.is_empty() && done.steps.is_empty());
    assert!(sink.text().contains("nothing to destroy"));
}

#[tokio::test]
async fn a_failed_apply_still_returns_what_exists() {
    let bench = Bench::new().await;
    let text = TWO.replace("echo hello from b", "echo why >&2; exit 7");
    let sink = Sink::default();
    let done = bench
        .build(build_job(template(&text), Start, b""), &sink)
        .await;
    let error = done.error.unwrap().to_string();
    assert!(
        error.starts_with("terraform apply: local-exec provisioner error"),
        "{error}"
    );
    assert!(error.contains("exit status 7"), "{error}");
    assert_eq!(names(&done.state), ["a", "b"]);
    assert!(done.resources.is_empty());
    let errors = sink.errors().join("\n");
    assert!(errors.contains("main.tf line 5"), "{errors}");
    bench.assert_clean();

    let again = build_job(template(TWO), Delete, &done.state);
    let gone = bench.build(again, &Sink::default()).await;
    assert!(gone.error.is_none() && names(&gone.state).is_empty());
}

#[tokio::test]
async fn a_mistake_in_the_template_is_shown_with_its_place() {
    let bench = Bench::new().await;
    let sink = Sink::default();
    let text = "resource \"terraform_data\" \"a\" {\n  inptu = \"x\"\n}\n";
    let done = bench
        .build(build_job(template(text), Start, b""), &sink)
        .await;
    let error = done.error.unwrap().to_string();
    assert!(
        error.contains("Unsupported argument (main.tf:2)"),
        "{error}"
    );
    bench.assert_clean();
}

#[tokio::test]
async fn secrets_reach_the_template_but_no_process_list() {
    let bench = Bench::new().await;
    let out = bench.path("seen");
    let text = format!(
        r#"
        variable "key" {{
          type      = string
          sensitive = true
        }}
        variable "list" {{ type = list(string) }}
        resource "terraform_data" "a" {{
          input = length(var.key)
          provisioner "local-exec" {{
            command = "tr '\\0' ' ' < /proc/$PPID/cmdline > {out}; env >> {out}; cat /proc/$PPID/environ >> {out}; echo list=$L >> {out}"
            environment = {{ L = join("+", var.list) }}
          }}
        }}"#,
        out = out.display()
    );
    let mut job = build_job(template(&text), Start, b"");
    job.variables = vec![
        variable("key", "s3cr3t${x}\""),
        variable("list", "[\"p\", \"q\"]"),
    ];
    let sink = Sink::default();
    let done = bench.build(job, &sink).await;
    assert!(done.error.is_none(), "{:?}", done.error);
    let seen = fs::read(&out).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    assert!(seen.starts_with("/") && seen.contains("apply"), "{seen}");
    assert!(!seen.contains("s3cr3t"));
    assert!(!seen.contains("CODER_DONT_PASS"));
    assert!(seen.contains("FROM_THE_MACHINE=passes"));
    assert!(seen.contains("CODER_WORKSPACE_NAME=w1"));
    assert!(seen.contains("list=p+q"));
    assert!(!sink.text().contains("s3cr3t"));
    let state = String::from_utf8(done.state).unwrap();
    assert!(
        state.contains("\"value\": 11"),
        "the value arrived as it is"
    );
}

#[tokio::test]
async fn a_value_for_a_variable_beats_the_templates_own_file() {
    let bench = Bench::new().await;
    let archive = tar(&[
        (
            "main.tf",
            "variable \"x\" {}\nresource \"terraform_data\" \"a\" { input = var.x }\n",
        ),
        ("terraform.tfvars", "x = \"file\"\n"),
    ]);
    let mut job = build_job(archive, Start, b"");
    job.variables = vec![variable("x", "given"), variable("unknown", "ignored")];
    let done = bench.build(job, &Sink::default()).await;
    assert!(done.error.is_none(), "{:?}", done.error);
    assert!(String::from_utf8(done.state).unwrap().contains("\"given\""));
}

#[tokio::test]
async fn the_state_stays_here_whatever_backend_the_template_names() {
    let bench = Bench::new().await;
    let text = "terraform {\n  backend \"http\" {\n    address = \"http://127.0.0.1:1/\"\n  }\n}\n\
                resource \"terraform_data\" \"a\" {}\n";
    let sink = Sink::default();
    let up = bench
        .build(build_job(template(text), Start, b""), &sink)
        .await;
    assert!(up.error.is_none(), "{:?}", up.error);
    assert_eq!(names(&up.state), ["a"]);
    assert!(sink.text().contains("backend is not used"));
    let again = bench
        .build(build_job(template(text), Start, &up.state), &sink)
        .await;
    assert!(again.error.is_none(), "{:?}", again.error);
}

/// Breaks the one kept directory.
fn spoil_modules(bench: &Bench) {
    let mut spoilt = 0;
    for entry in fs::read_dir(bench.path("cache/init")).unwrap() {
        let file = entry.unwrap().path().join("terraform/modules/modules.json");
        if file.exists() {
            fs::write(file, "{\"Modules\":[]}").unwrap();
            spoilt += 1;
        }
    }
    assert_eq!(spoilt, 1);
}

#[tokio::test]
async fn a_kept_directory_that_no_longer_fits_is_made_anew() {
    let bench = Bench::new().await;
    let archive = tar(&[
        ("main.tf", "module \"m\" { source = \"./m\" }\n"),
        ("m/main.tf", "resource \"terraform_data\" \"in\" {}\n"),
    ]);
    let up = bench
        .build(build_job(archive.clone(), Start, b""), &Sink::default())
        .await;
    assert!(up.error.is_none(), "{:?}", up.error);
    assert_eq!(up.modules[0].key, "m");
    assert_eq!(up.resources[0].module_path, "module.m");
    spoil_modules(&bench);
    let sink = Sink::default();
    let mut job = build_job(archive.clone(), Start, &up.state);
    job.graph = Some(String::new());
    let again = bench.build(job, &sink).await;
    assert!(again.error.is_none(), "{:?}", again.error);
    assert!(sink.errors().is_empty(), "{:?}", sink.errors());
    let steps: Vec<_> = again.steps.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(steps[2..], ["restore", "apply", "init", "apply", "convert"]);

    spoil_modules(&bench);
    let job = PlanJob {
        id: "dry".into(),
        archive,
        variables: Vec::new(),
        request: BuildRequest::placeholder("http://coder.test", Start),
        graph: None,
        cancel: Cancel::new(),
    };
    let sink = Sink::default();
    let dry = bench.engine.plan_only(job, &sink).await.unwrap();
    assert_eq!(dry.resources[0].module_path, "module.m");
    assert!(sink.errors().is_empty(), "{:?}", sink.errors());
}

#[tokio::test]
async fn a_parameter_that_is_too_large_for_the_system_is_explained() {
    let bench = Bench::new().await;
    let mut job = build_job(template(TWO), Start, b"");
    job.request.parameters.push(ParameterValue {
        name: "p".into(),
        value: "x".repeat(200 << 10),
    });
    let done = bench.build(job, &Sink::default()).await;
    let error = done.error.unwrap().to_string();
    assert!(error.contains("128 KiB"), "{error}");
    bench.assert_clean();
}

#[tokio::test]
async fn archives_that_break_out_are_refused() {
    let bench = Bench::new().await;
    let mut h = tar::Header::new_old();
    h.as_old_mut().name[..6].copy_from_slice(b"../x.t");
    h.set_size(0);
    h.set_cksum();
    let mut b = tar::Builder::new(Vec::new());
    b.append(&h, std::io::empty()).unwrap();
    let job = build_job(b.into_inner().unwrap().into(), Start, b"old");
    let done = bench.build(job, &Sink::default()).await;
    assert!(matches!(done.error, Some(JobError::Archive(_))));
    assert_eq!(done.state, b"old");
    bench.assert_clean();
}
