//! `coder devcontainer validate`: all that is wrong with configurations, before somebody builds them.

use std::process::ExitCode;
use std::sync::Arc;

use coder_devcontainer::compose;
use coder_devcontainer::config::{Base, Compat};
use coder_devcontainer::diagnostic::{Code, Diagnostic, Severity, Source, pointer};
use coder_devcontainer::feature::control::Control;
use coder_devcontainer::feature::options;
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::jsonc::{self, Limits, Node};
use coder_devcontainer::project::ReadProject;
use coder_devcontainer::repository::Repository;

use super::features::Format;
use super::project::{self, Features, Opened, Reading, Unusable};
use super::{Fail, Output, World, access};
use crate::features::{Contents, Fetcher};

/// For these checks one platform is as good as another.
const PLATFORM: &str = "linux/amd64";

/// Flags of `validate`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    project: project::Args,
    /// How to say it.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    /// Fail for warnings too.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    access: access::Args,
}

/// Checks all configurations of the project, or the one that is named.
pub(super) async fn run(
    args: &Args,
    world: &World,
    output: &mut Output<'_>,
) -> Result<ExitCode, Fail> {
    let (repository, paths) = args.project.candidates(world)?;
    let fetcher = args.access.fetcher(world).await?;
    let control = args.access.control(world, &fetcher, output).await?;
    let mut found = Vec::new();
    for path in &paths {
        found.extend(check(args, world, &fetcher, &control, &repository, path).await?);
    }
    let is_error = |one: &&Diagnostic| one.severity == Severity::Error || args.strict;
    let fails = found.iter().filter(is_error).count() > 0;
    match args.output_format {
        Format::Json => {
            let all = found.iter().map(to_value).collect();
            output.line(&Value::Array(all).to_string());
        }
        Format::Text => {
            for one in &found {
                output.line(&one.to_string());
            }
            if found.is_empty() {
                output.line(&format!("{}: nothing to say", paths.join(", ")));
            }
        }
    }
    Ok(if fails {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

async fn check(
    args: &Args,
    world: &World,
    fetcher: &Fetcher,
    control: &Arc<Control>,
    repository: &Repository,
    path: &str,
) -> Result<Vec<Diagnostic>, Fail> {
    let reading = Reading {
        compat: Compat::Strict,
        ..Reading::default()
    };
    let opened = match args
        .project
        .read(world, &reading, repository.clone(), path)?
    {
        Ok(opened) => opened,
        Err(ReadProject::Invalid(found)) => return Ok(found),
        Err(error) => {
            let file = path.to_owned();
            return Ok(vec![Diagnostic {
                file,
                ..Diagnostic::error(Code::Variable, error.to_string())
            }]);
        }
    };
    let mut found = opened.project.diagnostics.clone();
    let mut more = base(&opened, world);
    more.extend(check_features(&opened, fetcher, control, args.access.is_offline()).await);
    let source = Source::new(path, &opened.text);
    let root = jsonc::parse(&opened.text, Limits::default()).root;
    found.extend(
        more.into_iter()
            .map(|one| place(one, &source, root.as_ref())),
    );
    Ok(found)
}

/// Finds the line, unless the diagnostic is about another file.
fn place(one: Diagnostic, source: &Source<'_>, root: Option<&Node>) -> Diagnostic {
    match root {
        Some(root) if one.file.is_empty() => source.place(one, root),
        _ => one,
    }
}

/// What the image comes from: Dockerfile and Compose files.
fn base(opened: &Opened, world: &World) -> Vec<Diagnostic> {
    let (project, repository) = (&opened.project, &opened.repository);
    let error = |code: Code, at: &str, fail: Fail| vec![Diagnostic::error(code, fail.0).at(at)];
    match project.config().base {
        Base::None | Base::Image(_) => Vec::new(),
        Base::Dockerfile(_) => match project.dockerfile(repository, PLATFORM, PLATFORM) {
            Ok(_) => Vec::new(),
            Err(wrong) => error(Code::Dockerfile, "/build", wrong.into()),
        },
        Base::Compose(wanted) => {
            match compose::read(repository, project.config_folder(), &wanted, &world.env) {
                Ok(read) => match read
                    .service
                    .build
                    .map(|build| build.dockerfile(repository, PLATFORM, PLATFORM))
                {
                    Some(Err(wrong)) => error(Code::Dockerfile, "/dockerComposeFile", wrong.into()),
                    _ => read.warnings,
                },
                Err(wrong) => error(Code::Compose, "/dockerComposeFile", wrong.into()),
            }
        }
    }
}

async fn check_features(
    opened: &Opened,
    fetcher: &Fetcher,
    control: &Arc<Control>,
    offline: bool,
) -> Vec<Diagnostic> {
    let at = |id: &str| pointer("/features", id);
    let locking = match opened.locking() {
        Ok(locking) => locking,
        Err(Fail(text)) => return vec![Diagnostic::error(Code::Feature, text).at("/features")],
    };
    let wanted = Features {
        control: control.clone(),
        additional: None,
        locking,
        contents: Contents::Metadata,
    };
    let resolved = match opened.features(fetcher, &wanted).await {
        Ok(resolved) => resolved,
        Err(Unusable {
            id,
            fail: Fail(text),
        }) => {
            let at = id.map_or("/features".to_owned(), |id| at(&id));
            let found = match offline {
                true => {
                    Diagnostic::warning(Code::Feature, format!("Features are not checked: {text}"))
                }
                false => Diagnostic::error(Code::Feature, text),
            };
            return vec![found.at(at)];
        }
    };
    let mut found = resolved.plan.warnings;
    found.extend(resolved.warnings);
    let own = opened
        .project
        .effective
        .get("features")
        .and_then(Value::as_object);
    for step in &resolved.plan.steps {
        // Options that one Feature gives to another are not for the reader to mend.
        if own.is_some_and(|own| own.contains_key(&step.user_id)) {
            let at = at(&step.user_id);
            let (_, wrong) = options::values(&step.known.spec, &step.options, &at, Compat::Strict);
            found.extend(wrong);
        }
        if step.known.spec.deprecated {
            let text = format!("the Feature {} should no longer be used", step.user_id);
            found.push(Diagnostic::warning(Code::Deprecated, text).at(at(&step.user_id)));
        }
    }
    found
}

fn to_value(one: &Diagnostic) -> Value {
    let mut object = Object::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put(
        "severity",
        match one.severity {
            Severity::Error => "error".into(),
            Severity::Warning => "warning".into(),
        },
    );
    put("code", one.code.as_str().into());
    put("message", one.message.clone().into());
    if let Some(suggestion) = &one.suggestion {
        put("suggestion", suggestion.clone().into());
    }
    put("file", one.file.clone().into());
    if let Some(at) = one.position {
        put("line", Value::number(at.line as f64));
        put("column", Value::number(at.column as f64));
    }
    put("pointer", one.pointer.clone().into());
    object.into()
}
