//! Where the image comes from: an image, a Dockerfile or a Compose service, as what BuildKit's Dockerfile frontend takes.
//!
//! INVARIANT: every path is resolved inside the clone before BuildKit can ask for it (spec §5.6).

use std::collections::BTreeMap;
use std::path::Path;

use coder_devcontainer::compose;
use coder_devcontainer::config::Base;
use coder_devcontainer::dockerfile::options::BuildOptions;
use coder_devcontainer::repository::Repository;

use super::request::BuildRequest;
use crate::buildkit::session::Folder;
use crate::buildkit::{BuildError, Cache};
use crate::oci::manifest::Platform;

/// What the frontend builds.
#[derive(Debug, Clone, Default)]
pub(super) struct Source {
    /// The frontend's attributes.
    pub(super) attributes: BTreeMap<String, String>,
    /// The folders that it may ask for.
    pub(super) folders: BTreeMap<String, Folder>,
    /// Where layers are taken from.
    pub(super) cache_from: Vec<Cache>,
    /// Who runs the service, if it is one.
    pub(super) compose_user: Option<String>,
    /// Whether steps run without a network.
    pub(super) offline: bool,
    /// What is not honoured.
    pub(super) warnings: Vec<String>,
}

/// A Dockerfile with what its build is given.
#[derive(Debug, Default)]
struct Dockerfile {
    path: String,
    context: String,
    target: Option<String>,
    args: Vec<(String, String)>,
    options: BuildOptions,
    cache_from: Vec<String>,
}

pub(super) fn read(request: &BuildRequest<'_>) -> Result<Source, BuildError> {
    let mut source = Source::default();
    if request.names.is_empty() {
        return Err(BuildError::Invalid("the image has no name".to_owned()));
    }
    for name in &request.names {
        image_name(name)?;
    }
    if let Some(id) = request.secrets.keys().find(|id| !is_secret_id(id)) {
        let text = format!(
            "`{id}` cannot be the id of a secret; expected letters, digits, `_`, `-` and `.`"
        );
        return Err(BuildError::Invalid(text));
    }
    match request.project.config().base {
        Base::Image(image) => source.image(&image)?,
        Base::Dockerfile(build) => {
            let platform = request
                .platforms
                .first()
                .map_or("linux/amd64", String::as_str);
            // This also says what is wrong with the file before BuildKit is asked.
            let read = request
                .project
                .dockerfile(request.repository, platform, platform);
            let read = read.map_err(|error| invalid(&error))?;
            let Some(read) = read else {
                return Err(BuildError::Invalid(
                    "the configuration has no Dockerfile".to_owned(),
                ));
            };
            source.dockerfile(
                request,
                Dockerfile {
                    path: read.path,
                    context: read.context,
                    target: read.inputs.target,
                    args: build.args.into_iter().collect(),
                    options: read.options,
                    cache_from: build.cache_from,
                },
            )?;
        }
        Base::Compose(wanted) => {
            let folder = request.project.config_folder();
            let read = compose::read(request.repository, folder, &wanted, request.compose_env);
            let read = read.map_err(|error| invalid(&error))?;
            source
                .warnings
                .extend(read.warnings.iter().map(ToString::to_string));
            source.compose_user = read.service.user;
            match (read.service.build, read.service.image) {
                (Some(build), _) => source.dockerfile(
                    request,
                    Dockerfile {
                        path: build.dockerfile,
                        context: build.context,
                        target: build.target,
                        args: build.args.into_iter().collect(),
                        ..Dockerfile::default()
                    },
                )?,
                (None, Some(image)) => source.image(&image)?,
                (None, None) => {
                    let text = format!(
                        "the service `{}` has neither `image` nor `build`",
                        read.service.name
                    );
                    return Err(BuildError::Invalid(text));
                }
            }
        }
        Base::None => {
            let text = "the configuration has no image; name one in `image`, `build` or `dockerComposeFile`";
            return Err(BuildError::Invalid(text.to_owned()));
        }
    }
    source.request(request)?;
    Ok(source)
}

impl Source {
    fn set(&mut self, key: &str, value: impl Into<String>) {
        self.attributes.insert(key.to_owned(), value.into());
    }

    /// An image as it is.
    fn image(&mut self, image: &str) -> Result<(), BuildError> {
        image_name(image)?;
        let text = format!("FROM {image}\n").into_bytes();
        let file = BTreeMap::from([("Dockerfile".to_owned(), text)]);
        self.folders
            .insert("dockerfile".to_owned(), Folder::Memory(file));
        self.folders
            .insert("context".to_owned(), Folder::Memory(BTreeMap::new()));
        self.set("filename", "Dockerfile");
        Ok(())
    }

    fn dockerfile(
        &mut self,
        request: &BuildRequest<'_>,
        build: Dockerfile,
    ) -> Result<(), BuildError> {
        let repository = request.repository;
        let real = repository
            .resolve(&build.path)
            .map_err(|error| invalid(&error))?;
        let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(BuildError::Invalid(format!("{} is no file", build.path)));
        };
        let Some(name) = name.to_str() else {
            return Err(BuildError::Invalid(format!(
                "the name of {} is not UTF-8",
                build.path
            )));
        };
        self.folders
            .insert("dockerfile".to_owned(), Folder::Disk(folder.to_owned()));
        self.set("filename", name);
        self.folders.insert(
            "context".to_owned(),
            folder_inside(repository, &build.context)?,
        );
        let target = build.target.filter(|target| !target.is_empty());
        if let Some(target) = target {
            self.set("target", target);
        }
        for (name, value) in build.args {
            self.set(&format!("build-arg:{name}"), value);
        }
        self.options(request, build.options)?;
        for text in build.cache_from {
            self.cache(&text);
        }
        Ok(())
    }

    /// `build.options` (spec §5.2).
    fn options(
        &mut self,
        request: &BuildRequest<'_>,
        options: BuildOptions,
    ) -> Result<(), BuildError> {
        for (name, value) in options.build_args {
            match value {
                Some(value) => self.set(&format!("build-arg:{name}"), value),
                None => self.warnings.push(format!(
                    "the build argument `{name}` has no value and is left out"
                )),
            }
        }
        for (name, value) in options.labels {
            self.set(&format!("label:{name}"), value);
        }
        let hosts: Vec<String> = options
            .add_hosts
            .iter()
            .map(|(name, address)| format!("{name}={address}"))
            .collect();
        if !hosts.is_empty() {
            self.set("add-hosts", hosts.join(","));
        }
        if let Some(network) = options.network.filter(|network| network != "default") {
            self.offline = network == "none";
            self.set("force-network-mode", network);
        }
        if let Some(size) = options.shm_size {
            self.set("shm-size", bytes(&size)?.to_string());
        }
        if !options.ulimits.is_empty() {
            self.set("ulimit", options.ulimits.join(","));
        }
        if options.no_cache {
            self.set("no-cache", "");
        }
        if options.pull {
            self.set("image-resolve-mode", "pull");
        }
        if let (Some(platform), true) = (options.platform, request.platforms.is_empty()) {
            self.set("platform", platform);
        }
        if !options.ssh.is_empty() {
            return Err(BuildError::Invalid(
                "the build option `--ssh` is not supported: use a secret".to_owned(),
            ));
        }
        for id in options.secrets {
            if !request.secrets.contains_key(&id) {
                self.warnings.push(format!(
                    "the build wants the secret `{id}`, which the request does not bring"
                ));
            }
        }
        for text in options.cache_from {
            self.cache(&text);
        }
        for (name, value) in options.build_contexts {
            self.named_context(request.repository, &name, &value)?;
        }
        Ok(())
    }

    fn named_context(
        &mut self,
        repository: &Repository,
        name: &str,
        value: &str,
    ) -> Result<(), BuildError> {
        let remote = [
            "docker-image://",
            "https://",
            "http://",
            "git://",
            "ssh://",
            "git@",
        ];
        let key = format!("context:{name}");
        if remote.iter().any(|scheme| value.starts_with(scheme)) {
            self.set(&key, value);
            return Ok(());
        }
        let folder = folder_inside(repository, value)?;
        let local = format!("context-{}", self.folders.len());
        self.set(&key, format!("local:{local}"));
        self.folders.insert(local, folder);
        Ok(())
    }

    fn cache(&mut self, text: &str) {
        match Cache::parse(text) {
            Ok(cache) => self.cache_from.push(cache),
            Err(error) => self.warnings.push(format!("cacheFrom: {error}")),
        }
    }

    /// What the request adds.
    fn request(&mut self, request: &BuildRequest<'_>) -> Result<(), BuildError> {
        for platform in &request.platforms {
            let read = platform.parse::<Platform>();
            read.map_err(|error| BuildError::Invalid(error.to_string()))?;
        }
        if !request.platforms.is_empty() {
            self.set("platform", request.platforms.join(","));
        }
        if request.no_cache {
            self.set("no-cache", "");
            self.cache_from.clear();
        } else {
            self.cache_from
                .splice(0..0, request.cache_from.iter().cloned());
        }
        let epoch = "build-arg:SOURCE_DATE_EPOCH";
        if let (Some(time), false) = (request.epoch, self.attributes.contains_key(epoch)) {
            self.set(epoch, time.to_string());
        }
        Ok(())
    }
}

/// The error with its causes, as it ends here.
fn invalid(error: &dyn std::error::Error) -> BuildError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    BuildError::Invalid(text)
}

fn folder_inside(repository: &Repository, path: &str) -> Result<Folder, BuildError> {
    let real = repository.resolve(path).map_err(|error| invalid(&error))?;
    if !Path::is_dir(&real) {
        return Err(BuildError::Invalid(format!(
            "the build context {path} is no folder"
        )));
    }
    Ok(Folder::Disk(real))
}

fn is_secret_id(id: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    !id.is_empty() && id.bytes().all(fine) && !id.starts_with('.')
}

/// A name that goes into a Dockerfile and into lists: nothing in it can end either.
fn image_name(name: &str) -> Result<(), BuildError> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-/:@[]".contains(&b);
    match !name.is_empty() && name.bytes().all(fine) && !name.starts_with('-') {
        true => Ok(()),
        false => Err(BuildError::Invalid(format!(
            "`{name}` is no image reference"
        ))),
    }
}

/// A size with a unit, as docker takes it, in bytes.
fn bytes(text: &str) -> Result<u64, BuildError> {
    let wrong = || {
        BuildError::Invalid(format!(
            "the build option `--shm-size` cannot take `{text}`: expected a size such as 64m"
        ))
    };
    let lower = text.to_ascii_lowercase();
    let end = lower
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(lower.len());
    let (number, unit) = lower.split_at(end);
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_images_cannot_end_a_line_or_a_list() {
        for name in ["busybox", "h:5000/a/b:1@sha256:00", "[::1]:5000/x"] {
            assert!(image_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "--platform=x",
            "a b",
            "a\nRUN id",
            "a,b",
            "$(id)",
            "$X",
            "a\\",
        ] {
            assert!(image_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("64m").unwrap(), 64 << 20);
        assert_eq!(bytes("1GB").unwrap(), 1 << 30);
        assert!(bytes("x").is_err());
        assert!(bytes("99999999999g").is_err());
    }
}
