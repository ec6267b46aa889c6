//! Imports and dry runs.

use coder_provisioner::env::Transition::Start;
use coder_provisioner::{BuildRequest, Cancel, JobError, LogLevel, PlanJob};

use crate::support::{Bench, Sink, import_job, tar, template, variable};

#[tokio::test]
async fn a_template_is_read_and_planned() {
    let bench = Bench::new().await;
    let archive = tar(&[
        ("README.md", "# Hello"),
        (
            "main.tf",
            "variable \"n\" { default = 1 }\nresource \"terraform_data\" \"a\" { count = var.n }\n",
        ),
    ]);
    let sink = Sink::default();
    let found = bench
        .engine
        .import(import_job(archive), &sink)
        .await
        .unwrap();
    assert_eq!(found.parsed.readme, "# Hello");
    assert_eq!(found.parsed.variables[0].default_value, "1");
    let addresses: Vec<_> = found.start.iter().map(|r| r.address.as_str()).collect();
    assert_eq!(addresses, ["terraform_data.a[0]"]);
    assert_eq!(found.start, found.stop);
    assert!(found.graph.contains("terraform_data.a"));
    assert!(serde_json::from_slice::<serde_json::Value>(&found.plan).is_ok());
    assert_eq!(
        sink.stages(),
        [
            "Setting up",
            "Parsing template parameters",
            "Initializing Terraform Directory",
            "Detecting persistent resources",
            "Detecting ephemeral resources",
            "Graphing Infrastructure",
            "Cleaning Up",
        ]
    );
    bench.assert_clean();
}

#[tokio::test]
async fn a_missing_variable_is_named_with_the_code_that_clients_know() {
    let bench = Bench::new().await;
    let archive = template("variable \"region\" {}\n");
    let e = bench
        .engine
        .import(import_job(archive.clone()), &Sink::default())
        .await
        .unwrap_err();
    assert_eq!(e.code(), Some("REQUIRED_TEMPLATE_VARIABLES"));
    assert!(e.to_string().contains("region"));
    let mut job = import_job(archive);
    job.variables = vec![variable("region", "eu")];
    bench.engine.import(job, &Sink::default()).await.unwrap();
    bench.assert_clean();
}

#[tokio::test]
async fn a_syntax_error_names_its_place() {
    let bench = Bench::new().await;
    let sink = Sink::default();
    let e = bench
        .engine
        .import(import_job(template("locals {\n  x = = 1\n}\n")), &sink)
        .await
        .unwrap_err();
    assert!(matches!(e, JobError::Template(_)));
    assert!(e.to_string().contains("main.tf:2:"), "{e}");
    assert!(sink.errors()[0].contains("main.tf:2:"));
    bench.assert_clean();
}

#[tokio::test]
async fn a_provider_that_cannot_be_had_is_named() {
    let bench = Bench::with(|dir, options| {
        // A configuration that allows no source at all keeps this test off the network.
        let rc = dir.join("none.tfrc");
        let text = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
            dir.join("empty").display()
        );
        std::fs::create_dir_all(dir.join("empty")).unwrap();
        std::fs::write(&rc, text).unwrap();
        let env = options.env.as_mut().unwrap();
        env.push(("TF_CLI_CONFIG_FILE".into(), rc.into()));
    })
    .await;
    let sink = Sink::default();
    let text = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\ndata \"x_y\" \"z\" {}\n";
    let e = bench
        .engine
        .import(import_job(template(text)), &sink)
        .await
        .unwrap_err();
    let e = e.to_string();
    assert!(
        e.starts_with("terraform init: ") && e.contains("acme/x"),
        "{e}"
    );
    assert!(sink.errors().join("\n").contains("acme/x"));
    bench.assert_clean();
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be() {
    let bench = Bench::new().await;
    let job = PlanJob {
        id: "dry".into(),
        archive: template("resource \"terraform_data\" \"a\" {}\n"),
        variables: Vec::new(),
        request: BuildRequest::placeholder("http://coder.test", Start),
        graph: None,
        cancel: Cancel::new(),
    };
    let sink = Sink::default();
    let found = bench.engine.plan_only(job, &sink).await.unwrap();
    assert_eq!(found.resources[0].name, "a");
    let logs = sink.logs.lock().unwrap();
    assert!(logs.iter().all(|e| e.level < LogLevel::Warn));
}
