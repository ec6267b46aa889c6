//! `coder devcontainer features`: what is published of a Feature, what a configuration's Features need, and tests.

use std::process::ExitCode;

use coder_devcontainer::feature::control::Control;
use coder_devcontainer::feature::order::{Plan, Step, Wanted};
use coder_devcontainer::feature::reference::{Oci, Reference};
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::repository::Repository;

use super::project::{self, Features, Reading};
use super::{Fail, Output, World, access, feature_test};
use crate::features::{Contents, FetchFeature, Fetcher, Locking, Request, resolve};

/// Flags of `features`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Commands,
}

#[derive(clap::Subcommand, Debug)]
enum Commands {
    /// Say what a registry has of a Feature.
    Info(Info),
    /// Print the order in which a configuration's Features are installed.
    #[command(visible_alias = "resolve")]
    ResolveDependencies(Resolve),
    /// Run the tests of a collection of Features.
    Test(Box<feature_test::Args>),
}

#[derive(clap::Args, Debug)]
struct Info {
    /// What to say.
    mode: Mode,
    /// The Feature, for instance ghcr.io/devcontainers/features/go:1.
    feature: String,
    /// How to say it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    /// Has no meaning here.
    #[arg(long, hide = true)]
    log_level: Option<String>,
    #[command(flatten)]
    access: access::Args,
}

#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Its manifest.
    Manifest,
    /// Its tags.
    Tags,
    /// What it needs.
    Dependencies,
    /// All of that.
    Verbose,
}

/// How an answer is written.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(clap::Args, Debug)]
struct Resolve {
    #[command(flatten)]
    project: project::Args,
    #[command(flatten)]
    access: access::Args,
}

/// Runs a command about Features.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    match &args.command {
        Commands::Info(args) => info(args, world, output).await,
        Commands::ResolveDependencies(args) => resolve_dependencies(args, world, output).await,
        Commands::Test(args) => feature_test::run(args, world, output).await,
    }
}

async fn info(args: &Info, world: &World, output: &mut Output<'_>) -> Result<ExitCode, Fail> {
    let fetcher = args.access.fetcher(world).await?;
    let oci = Oci::read(&args.feature)?;
    let wants = |mode: Mode| args.mode == mode || args.mode == Mode::Verbose;
    match answer(&fetcher, &oci, args, &wants).await {
        Ok(answer) => {
            match args.output_format {
                Format::Json => output.line(&indented(&answer)),
                Format::Text => text(&answer, output),
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(fail) => {
            if args.output_format == Format::Json {
                output.line("{}");
            }
            Err(fail)
        }
    }
}

async fn answer(
    fetcher: &Fetcher,
    oci: &Oci,
    args: &Info,
    wants: &impl Fn(Mode) -> bool,
) -> Result<Object, Fail> {
    let mut answer = Object::new();
    if wants(Mode::Manifest) {
        let (digest, body) = fetcher.manifest(oci, None).await?;
        let text = std::str::from_utf8(&body)?;
        answer.insert("manifest".into(), Value::parse(text)?);
        answer.insert(
            "canonicalId".into(),
            format!("{}@{digest}", oci.resource()).into(),
        );
    }
    if wants(Mode::Tags) {
        if fetcher.offline {
            return Err(FetchFeature::Offline.into());
        }
        let tags = fetcher.repository(oci)?.tags().await?;
        let tags = tags.into_iter().map(Value::from).collect();
        answer.insert("publishedTags".into(), Value::Array(tags));
    }
    if wants(Mode::Dependencies) {
        let plan = dependencies(fetcher, &args.feature).await?;
        answer.insert("dependencies".into(), flowchart(&plan).into());
    }
    Ok(answer)
}

/// The plan of one Feature alone.
async fn dependencies(fetcher: &Fetcher, id: &str) -> Result<Plan, Fail> {
    let features = Object::from_iter([(id.to_owned(), Object::new().into())]);
    // It is in a registry, and what it needs cannot be in the repository.
    let nowhere = Repository::open(&std::env::temp_dir())?;
    let request = Request {
        repository: &nowhere,
        wanted: Wanted {
            features: &features,
            additional: None,
            override_order: &[],
            config_folder: ".devcontainer",
        },
        locking: Locking::Ignored,
        control: &Control::default(),
        contents: Contents::Metadata,
    };
    Ok(resolve(fetcher, &request).await?.plan)
}

fn text(answer: &Object, output: &mut Output<'_>) {
    let headings = [
        ("manifest", "Manifest"),
        ("canonicalId", "Canonical identifier"),
        ("publishedTags", "Published tags"),
        ("dependencies", "Dependencies (a diagram of Mermaid)"),
    ];
    for (key, heading) in headings {
        let text = match answer.get(key) {
            None => continue,
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                items.join("\n")
            }
            Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        output.line(&format!("{heading}:\n{}\n", text.trim_end()));
    }
}

/// JSON with four spaces, as the reference writes it here.
fn indented(answer: &Object) -> String {
    let mut text = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, formatter);
    let value = Value::Object(answer.clone());
    // Values of JSON can always be written.
    let _ = serde::Serialize::serialize(&value, &mut serializer);
    String::from_utf8_lossy(&text).into_owned()
}

async fn resolve_dependencies(
    args: &Resolve,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let opened = args.project.open(world, &Reading::default(), output)?;
    let fetcher = args.access.fetcher(world).await?;
    let wanted = Features {
        control: args.access.control(world, &fetcher, output).await?,
        additional: None,
        locking: opened.locking()?,
        contents: Contents::Metadata,
    };
    let resolved = opened.features(&fetcher, &wanted).await?;
    output.diagnostics(resolved.plan.warnings.iter().chain(&resolved.warnings));
    output.line(&flowchart(&resolved.plan));
    let order = resolved.plan.steps.iter().map(|step| {
        let mut entry = Object::new();
        entry.insert("id".into(), exact_id(step).into());
        entry.insert("options".into(), step.options.clone());
        Value::Object(entry)
    });
    let order = Value::Array(order.collect());
    let answer = Value::Object(Object::from_iter([("installOrder".to_owned(), order)]));
    output.line(&serde_json::to_string_pretty(&answer)?);
    Ok(ExitCode::SUCCESS)
}

/// What exactly is installed: with the digest, if it is in a registry.
fn exact_id(step: &Step) -> String {
    match (&step.reference, &step.known.digest) {
        (Reference::Oci(oci), Some(digest)) => format!("{}@{digest}", oci.resource()),
        _ => step.user_id.clone(),
    }
}

/// A diagram of Mermaid: who needs whom, and with a dotted line who would rather come after whom.
fn flowchart(plan: &Plan) -> String {
    let mut lines = vec!["flowchart".to_owned()];
    for (index, step) in plan.steps.iter().enumerate() {
        let options = step.options.to_string().replace(['"', '[', ']'], "");
        lines.push(format!("f{index}[\"{}<br/>{options}\"]", step.user_id));
    }
    let place = |key: &str, resource_only: bool| {
        let reference = Reference::read(key, ".devcontainer").ok();
        let steps = plan.steps.iter().enumerate();
        let found = steps.filter(move |(_, step)| match &reference {
            Some(reference) if resource_only => step.reference.resource() == reference.resource(),
            Some(reference) => step.reference.key() == reference.key(),
            None => false,
        });
        found.map(|(index, _)| index).collect::<Vec<_>>()
    };
    for (index, step) in plan.steps.iter().enumerate() {
        for (key, _) in &step.known.spec.depends_on {
            lines.extend(
                place(key, false)
                    .into_iter()
                    .map(|other| format!("f{index} --> f{other}")),
            );
        }
        for key in &step.known.spec.installs_after {
            lines.extend(
                place(key, true)
                    .into_iter()
                    .map(|other| format!("f{index} -.-> f{other}")),
            );
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
