//! Every fixture gives the answer of the reference (check 150).
//!
//! `tests/record_reference.py` made the answers. Where a fixture says in `differs` that ours is another, it has to be
//! another: a difference that is gone must leave the list.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coder_devcontainer::compose;
use coder_devcontainer::config::{Base, Compat};
use coder_devcontainer::discover::discover;
use coder_devcontainer::dockerfile::{Base as BaseImage, Image};
use coder_devcontainer::feature::order::{Knowledge, Known, MakePlan, Plan, plan};
use coder_devcontainer::feature::reference::Reference;
use coder_devcontainer::feature::spec::Spec;
use coder_devcontainer::feature::{local, options};
use coder_devcontainer::json::{Object, Value};
use coder_devcontainer::merge::Merged;
use coder_devcontainer::metadata::{Entry, LABEL, Omit, read_label, write_label};
use coder_devcontainer::project::Project;
use coder_devcontainer::repository::Repository;
use coder_devcontainer::workspace::Place;

/// What is compared.
const KEYS: [&str; 5] = [
    "configuration",
    "workspace",
    "mergedConfiguration",
    "features",
    "build",
];

const PLATFORM: &str = "linux/amd64";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn json(path: &Path) -> Object {
    match fs::read_to_string(path).map(|text| Value::parse(&text)) {
        Ok(Ok(Value::Object(object))) => object,
        Ok(other) => panic!("{}: {other:?}", path.display()),
        Err(_) => Object::new(),
    }
}

fn object(value: Option<&Value>) -> Object {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

struct Case {
    name: String,
    case: Object,
    expected: Object,
    repository: Repository,
}

impl Case {
    fn open(folder: &Path) -> Self {
        let case = json(&folder.join("case.json"));
        let below = case
            .get("folder")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Self {
            name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
            expected: json(&folder.join("expected.json")),
            repository: Repository::open(&folder.join(below)).unwrap(),
            case,
        }
    }

    fn project(&self) -> Result<Project, String> {
        let path = match self.case.get("config_path").and_then(Value::as_str) {
            Some(path) => path.to_owned(),
            None => discover(&self.repository).unwrap()[0].path.clone(),
        };
        let env = object(self.case.get("env")).into_iter();
        let env: BTreeMap<String, String> = env
            .map(|(name, value)| (name, value.as_str().unwrap().to_owned()))
            .collect();
        let top = format!("/repo/{}", self.name);
        let folder = match self.case.get("folder").and_then(Value::as_str) {
            Some(below) => format!("{top}/{below}"),
            None => top.clone(),
        };
        let place = Place {
            folder,
            git_root: self.case.contains_key("git").then_some(top),
            worktree: None,
        };
        let text = self.repository.text(&path, 1 << 20).unwrap();
        Project::read(&path, &text, &place, &env, Compat::Reference).map_err(|e| e.to_string())
    }

    /// The image that everything starts from.
    fn base(&self, project: &Project) -> Result<String, String> {
        let image = |base| match base {
            BaseImage::Image(image) => image,
            BaseImage::Scratch => "scratch".to_owned(),
        };
        match project.config().base {
            Base::None => Err("no image information".into()),
            Base::Image(image) => Ok(image),
            Base::Dockerfile(_) => {
                let build = project.dockerfile(&self.repository, PLATFORM, PLATFORM);
                let build = build.map_err(|e| format!("{e:?}"))?.unwrap();
                Ok(image(build.resolved.base))
            }
            Base::Compose(wanted) => {
                let service = compose::read(
                    &self.repository,
                    project.config_folder(),
                    &wanted,
                    &BTreeMap::new(),
                );
                let service = service.map_err(|e| format!("{e:?}"))?.service;
                match service.build {
                    None => Ok(service.image.unwrap()),
                    Some(build) => {
                        let resolved = build.dockerfile(&self.repository, PLATFORM, PLATFORM);
                        Ok(image(resolved.map_err(|e| format!("{e:?}"))?.resolved.base))
                    }
                }
            }
        }
    }

    fn image(&self, image: &str) -> Object {
        let mut images = object(self.case.get("images"));
        if images.is_empty() {
            images.insert("base".into(), Object::new().into());
        }
        let known = images.get(image);
        object(Some(
            known.unwrap_or_else(|| panic!("{}: {image}", self.name)),
        ))
    }

    /// What a build would have: the label, and with Features the users and the variables of their scripts.
    fn build(
        &self,
        project: &Project,
        base: &str,
        plan: &Plan,
        entries: &[Entry],
        merged: &Merged,
    ) -> Object {
        let mut built = Object::new();
        if let Some(label) = write_label(entries) {
            built.insert("label".into(), Value::parse(&label).unwrap());
        }
        if plan.steps.is_empty() {
            return built;
        }
        let known = self.image(base);
        let text = |key: &str| known.get(key).and_then(Value::as_str).map(str::to_owned);
        let env = known
            .get("Env")
            .and_then(Value::as_array)
            .unwrap_or_default();
        let env = env.iter().filter_map(|pair| pair.as_str()?.split_once('='));
        let image = Image {
            user: text("User"),
            env: env.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
        };
        let dockerfile = project.dockerfile(&self.repository, PLATFORM, PLATFORM);
        let user = match dockerfile.unwrap() {
            Some(build) => {
                let found = build
                    .dockerfile
                    .user(&build.inputs, &build.resolved, &image);
                found.unwrap().0
            }
            None => image.user.unwrap_or_else(|| "root".into()),
        };
        let users = merged.users(None, &user);
        built.insert("imageUser".into(), user.into());
        built.insert("containerUser".into(), users.container.0.into());
        built.insert("remoteUser".into(), users.remote.0.into());
        let options = plan.steps.iter().map(|step| {
            let spec = &step.known.spec;
            let (values, _) = options::values(spec, &step.options, "", Compat::Reference);
            let env = options::environment(&values).into_iter();
            let env: Object = env.map(|(name, value)| (name, value.into())).collect();
            (step.folder.clone(), Value::Object(env))
        });
        built.insert("options".into(), Value::Object(options.collect()));
        built
    }

    fn label(&self, image: &str) -> Vec<Object> {
        let known = self.image(image);
        let label = match (known.get("label"), known.get("metadata")) {
            (Some(Value::String(label)), _) => label.clone(),
            (_, Some(metadata)) => metadata.to_string(),
            _ => String::new(),
        };
        assert_eq!(LABEL, "devcontainer.metadata");
        read_label(&label, Compat::Reference).0
    }

    fn plan(&self, project: &Project, registry: &Object) -> Result<Plan, String> {
        let features = project.features().map_err(|e| e.to_string())?;
        let order = project.config().override_feature_install_order;
        let mut knowledge = Knowledge::new();
        loop {
            match plan(&project.wanted(&features, None, &order), &knowledge) {
                Ok(plan) => return Ok(plan),
                Err(MakePlan::Missing(missing)) => {
                    for reference in missing {
                        let known = self.look_up(&reference, registry);
                        knowledge.insert(reference.key(), known);
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn look_up(&self, reference: &Reference, registry: &Object) -> Result<Known, String> {
        match reference {
            Reference::Local(path) => local::read(&self.repository, path)
                .map(|(known, _)| known)
                .map_err(|e| e.to_string()),
            Reference::Oci(oci) => {
                let path = format!("{}/{}", oci.namespace, oci.id);
                let tag = oci.to_string().rsplit(':').next().unwrap().to_owned();
                let tags = object(registry.get(&path));
                let spec = tags.get(&tag).ok_or("not found")?;
                let mut full = Object::from_iter([("id".to_owned(), Value::from(oci.id.as_str()))]);
                full.extend(object(Some(spec)));
                full.entry("version".into()).or_insert("1.0.0".into());
                full.entry("name".into())
                    .or_insert(Value::from(path.as_str()));
                // The same content has the same digest.
                let digest = Some(format!("{path} {}", Value::Object(full.clone())));
                let spec = Spec::from_object(full).map_err(|e| e.to_string())?;
                Ok(Known { spec, digest })
            }
            Reference::Tarball { .. } => Err("not here".into()),
        }
    }

    /// What the reference is asked for, from us.
    fn ours(&self, registry: &Object) -> Object {
        let mut ours = Object::new();
        let Ok(project) = self.project() else {
            return ours;
        };
        ours.insert("configuration".into(), project.effective.clone().into());
        ours.insert("workspace".into(), project.workspace.to_value());
        let merged = self.base(&project).and_then(|base| {
            let plan = self.plan(&project, registry)?;
            let entries = project.entries(self.label(&base), &plan, Omit::default());
            let entries = entries.unwrap();
            let merged = project.merge(&entries);
            Ok((base, plan, entries, merged))
        });
        let Ok((base, plan, entries, merged)) = merged else {
            return ours;
        };
        let build = self.build(&project, &base, &plan, &entries, &merged);
        ours.insert("build".into(), build.into());
        ours.insert("mergedConfiguration".into(), merged.value.into());
        let features: Vec<Value> = plan
            .steps
            .iter()
            .map(|step| {
                let mut feature = Object::new();
                feature.insert("id".into(), step.user_id.clone().into());
                feature.insert("options".into(), step.options.clone());
                feature.into()
            })
            .collect();
        if !features.is_empty() {
            ours.insert("features".into(), features.into());
        }
        ours
    }
}

/// Takes a value out of a tree.
fn take(root: &mut Object, pointer: &str) -> Option<Value> {
    let (key, rest) = match pointer[1..].split_once('/') {
        Some((key, rest)) => (key, Some(rest)),
        None => (&pointer[1..], None),
    };
    match rest {
        None => root.shift_remove(key),
        Some(rest) => match root.get_mut(key)? {
            Value::Object(inner) => take(inner, &format!("/{rest}")),
            _ => None,
        },
    }
}

#[test]
fn check_150_every_fixture_gives_the_answer_of_the_reference() {
    let registry = json(&fixtures().join("registry.json"));
    let mut folders: Vec<PathBuf> = fs::read_dir(fixtures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert!(folders.len() >= 64, "only {} fixtures", folders.len());
    let mut wrong = Vec::new();
    for folder in folders {
        let case = Case::open(&folder);
        let mut ours = case.ours(&registry);
        let mut theirs = case.expected.clone();
        for pointer in object(case.case.get("differs")).keys() {
            let (our, their) = (take(&mut ours, pointer), take(&mut theirs, pointer));
            if our == their {
                wrong.push(format!("{}: {pointer} no longer differs", case.name));
            }
            if pointer == "/mergedConfiguration" {
                for key in ["features", "build"] {
                    ours.shift_remove(key);
                    theirs.shift_remove(key);
                }
            }
        }
        // Compose is not built by the stand-in.
        if !theirs.contains_key("build") {
            ours.shift_remove("build");
        }
        for key in KEYS {
            let (our, their) = (ours.get(key), theirs.get(key));
            if our != their {
                let text = |value: Option<&Value>| value.map(ToString::to_string);
                let (our, their) = (text(our), text(their));
                wrong.push(format!(
                    "{} {key}\n  ours   {our:?}\n  theirs {their:?}",
                    case.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
