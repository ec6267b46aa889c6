//! Versions of templates: importing what was uploaded, naming, archiving.

use super::templates::UNIQUE;
use super::views;
use super::{App, Caller, Change};
use crate::fail::{Checks, Fail, Kind};
use crate::http::extract::Listing;
use crate::starters;
use chrono::Utc;
use coder_model::{Action, FileId, JobId, TemplateId, TemplateVersionId, names};
use coder_store::{
    CancelOutcome, Error, NewJob, NewVersion, OrganizationRow, TemplateKey, VersionKey, VersionRow,
};
use coder_wire as wire;
use rand::seq::IndexedRandom as _;
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The longest message of a version, in bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// A name for a version that was given none.
fn random_name() -> String {
    const FIRST: &[&str] = &[
        "amber", "brisk", "calm", "clear", "eager", "early", "fresh", "gentle", "happy", "keen",
        "kind", "lively", "lucid", "mellow", "neat", "nimble", "patient", "plain", "quick",
        "quiet", "ready", "round", "sharp", "simple", "smart", "steady", "sunny", "swift", "tidy",
        "warm", "wide", "witty",
    ];
    const SECOND: &[&str] = &[
        "alder", "badger", "birch", "cedar", "crane", "dolphin", "falcon", "fern", "finch",
        "heron", "ibis", "juniper", "lark", "linden", "lynx", "maple", "marten", "oak", "osprey",
        "otter", "pine", "plover", "raven", "robin", "rowan", "spruce", "stork", "swallow", "tern",
        "willow", "wren", "yew",
    ];
    let mut rng = rand::rng();
    let pick = |words: &'static [&'static str], rng: &mut rand::rngs::ThreadRng| {
        *words.choose(rng).expect("the list is not empty")
    };
    let (first, second) = (pick(FIRST, &mut rng), pick(SECOND, &mut rng));
    format!("{first}_{second}{}", rand::random_range(10..100))
}

/// The tags of a job: whose daemons may run it.
fn job_tags(given: &BTreeMap<String, String>, user: Uuid) -> serde_json::Value {
    let mut tags = given.clone();
    let personal = tags.get("scope").is_some_and(|scope| scope == "user");
    tags.insert(
        "scope".to_owned(),
        if personal { "user" } else { "organization" }.to_owned(),
    );
    tags.insert(
        "owner".to_owned(),
        if personal {
            user.to_string()
        } else {
            String::new()
        },
    );
    json!(tags)
}

/// Says what came of the wish to cancel a job.
pub(crate) fn canceled(outcome: CancelOutcome) -> Result<(), Fail> {
    match outcome {
        CancelOutcome::Ended | CancelOutcome::Asked => Ok(()),
        CancelOutcome::Finished => Err(Fail::invalid("The job has already ended.")),
        CancelOutcome::AlreadyAsked => Err(Fail::invalid("The job is already being canceled.")),
        CancelOutcome::Unexpected(status) => Err(Fail::new(
            Kind::PreconditionFailed,
            format!(
                "The job is {} by now. Look at it again before you cancel it.",
                status.as_str()
            ),
        )),
    }
}

fn taken(error: Error) -> Fail {
    if error.is_conflict("template_versions_name") {
        return Fail::new(
            Kind::Conflict,
            "The template already has a version with this name.",
        )
        .with_field("name", UNIQUE);
    }
    error.into()
}

impl App {
    /// Stores a version and queues its import.
    ///
    /// # Errors
    /// Names all fields that are wrong; [`Kind::NotFound`] for an unknown file, example or template;
    /// [`Kind::Conflict`] for a name in use.
    pub async fn version_create(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        request: wire::CreateTemplateVersionRequest,
    ) -> Result<wire::TemplateVersion, Fail> {
        let mut checks = Checks::default();
        let file = request.file_id.filter(|id| !id.is_nil());
        let example = (!request.example_id.is_empty()).then_some(request.example_id.as_str());
        if !request.name.is_empty() {
            checks.check("name", names::check_version_name(&request.name));
        }
        checks.require(
            "message",
            request.message.len() <= MAX_MESSAGE,
            "must be at most 1 MiB",
        );
        checks.require(
            "storage_method",
            request.storage_method == "file",
            "must be \"file\"",
        );
        checks.require(
            "provisioner",
            request.provisioner == "terraform",
            "must be \"terraform\"",
        );
        if file.is_some() == example.is_some() {
            let problem = if file.is_some() {
                "name a file or an example, not both"
            } else {
                "name an uploaded file, or an example"
            };
            checks.fail("file_id", problem);
            checks.fail("example_id", problem);
        }
        checks.done()?;

        let template = match request.template_id.filter(|id| !id.is_nil()) {
            None => None,
            Some(id) => {
                let template = self
                    .store
                    .template_get(&caller.actor, TemplateKey::Id(TemplateId(id)))
                    .await?;
                if template.organization_id != organization.id {
                    return Err(Fail::not_found());
                }
                if !caller.actor.can(Action::Update, &template.object()) {
                    return Err(Fail::forbidden());
                }
                Some(template.id)
            }
        };
        let file = match (file, example) {
            (_, Some(id)) => {
                let starter = starters::find(id).ok_or_else(|| {
                    Fail::new(Kind::NotFound, format!("There is no example {id:?}."))
                        .with_field("example_id", "is unknown")
                })?;
                let tar = starter.tar().map_err(Fail::internal)?;
                FileId(self.file_keep(caller, tar.into()).await?.0.hash)
            }
            (Some(id), None) => {
                self.store
                    .file_get(&caller.actor, FileId(id))
                    .await
                    .map_err(|error| match error {
                        Error::NotFound => {
                            Fail::new(Kind::NotFound, "There is no such file. Upload it first.")
                        }
                        error => error.into(),
                    })?
                    .id
            }
            (None, None) => {
                return Err(Fail::internal(anyhow::anyhow!(
                    "a version without a file passed its checks"
                )));
            }
        };

        let now = Utc::now();
        let id = TemplateVersionId(Uuid::new_v4());
        let name = if request.name.is_empty() {
            random_name()
        } else {
            request.name
        };
        let tags = job_tags(&request.tags, caller.user.id.0);
        let variables: Vec<_> = request
            .user_variable_values
            .into_iter()
            .map(|v| (v.name, v.value))
            .collect();
        let new = NewVersion {
            id,
            template_id: template,
            name: &name,
            message: &request.message,
            source_example_id: example,
            created_by: caller.user.id,
            variables: &variables,
            job: NewJob {
                id: JobId(Uuid::new_v4()),
                organization_id: organization.id,
                initiator_id: caller.user.id,
                kind: "template_version_import",
                input: json!({ "template_version_id": id }),
                file_id: file,
                tags: tags.clone(),
                trace_metadata: crate::traces::carrier(),
                now,
            },
        };
        let row = self
            .store
            .version_create(&caller.actor, &new)
            .await
            .map_err(taken)?;
        let mut view = views::version(&row);
        view.matched_provisioners = Some(self.matched(organization.id, &tags).await?);
        let change = Change::new("create", "template_version", row.id, name.as_str())
            .within(organization.id);
        self.record(caller, change.with(json!({ "template_id": template })))
            .await;
        Ok(view)
    }

    /// How many daemons could take a job with these tags.
    pub(crate) async fn matched(
        &self,
        organization: coder_model::OrganizationId,
        tags: &serde_json::Value,
    ) -> Result<wire::MatchedProvisioners, Fail> {
        let found = self
            .store
            .daemon_match(organization, tags, Utc::now())
            .await?;
        Ok(wire::MatchedProvisioners {
            count: found.count,
            available: found.available,
            most_recently_seen: found.most_recently_seen,
        })
    }

    /// One version.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn version_get(
        &self,
        caller: &Caller,
        key: VersionKey<'_>,
    ) -> Result<wire::TemplateVersion, Fail> {
        Ok(views::version(
            &self.store.version_get(&caller.actor, key).await?,
        ))
    }

    /// A version by the names of its template and itself.
    ///
    /// # Errors
    /// [`Kind::NotFound`].
    pub async fn version_by_names(
        &self,
        caller: &Caller,
        organization: &OrganizationRow,
        template: &str,
        name: &str,
    ) -> Result<VersionRow, Fail> {
        let template = self
            .store
            .template_get(&caller.actor, TemplateKey::Name(organization.id, template))
            .await?;
        Ok(self
            .store
            .version_get(&caller.actor, VersionKey::Name(template.id, name))
            .await?)
    }

    /// The version before this one, if there is one.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn version_previous(
        &self,
        caller: &Caller,
        version: &VersionRow,
    ) -> Result<Option<wire::TemplateVersion>, Fail> {
        let found = self.store.version_previous(&caller.actor, version).await?;
        Ok(found.as_ref().map(views::version))
    }

    /// The versions of a template.
    ///
    /// # Errors
    /// [`Kind::NotFound`]; [`Kind::Invalid`] when the page starts behind no version of it.
    pub async fn version_list(
        &self,
        caller: &Caller,
        template: TemplateId,
        archived: bool,
        page: &Listing,
    ) -> Result<Vec<wire::TemplateVersion>, Fail> {
        self.store
            .template_get(&caller.actor, TemplateKey::Id(template))
            .await?;
        let rows = self
            .store
            .version_list(
                &caller.actor,
                template,
                archived,
                page.after_id,
                page.limit,
                page.offset,
            )
            .await
            .map_err(|error| match error {
                Error::NotFound => Fail::field(
                    "Query parameters have invalid values.",
                    "after_id",
                    "is no version of this template",
                ),
                error => error.into(),
            })?;
        Ok(rows.iter().map(views::version).collect())
    }

    /// Renames a version or changes its message.
    ///
    /// # Errors
    /// Names the field that is wrong; [`Kind::Conflict`] for a name in use.
    pub async fn version_update(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
        request: wire::PatchTemplateVersionRequest,
    ) -> Result<wire::TemplateVersion, Fail> {
        let old = self.store.version_for_update(&caller.actor, id).await?;
        let name = if request.name.is_empty() {
            old.name.clone()
        } else {
            request.name
        };
        let message = request.message.unwrap_or_else(|| old.message.clone());
        let mut checks = Checks::default();
        checks.check("name", names::check_version_name(&name));
        checks.require(
            "message",
            message.len() <= MAX_MESSAGE,
            "must be at most 1 MiB",
        );
        checks.done()?;
        let row = self
            .store
            .version_update(&caller.actor, id, &name, &message, Utc::now())
            .await
            .map_err(taken)?;
        let view = views::version(&row);
        let change = Change::new("write", "template_version", id, name).within(row.organization_id);
        self.record(caller, change.between(&views::version(&old), &view))
            .await;
        Ok(view)
    }

    /// Cancels an import.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when it has ended or is being canceled.
    pub async fn version_cancel(&self, caller: &Caller, id: TemplateVersionId) -> Result<(), Fail> {
        let version = self.store.version_for_update(&caller.actor, id).await?;
        canceled(
            self.store
                .job_cancel(&caller.actor, version.job.id, None, Utc::now())
                .await?,
        )
    }

    /// Puts a version that nothing uses into the archive.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when something uses it.
    pub async fn version_archive(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<(), Fail> {
        let version = self.store.version_for_update(&caller.actor, id).await?;
        if version.archived {
            return Err(Fail::invalid("The version is archived already."));
        }
        let Some(template) = version.template_id else {
            return Err(Fail::invalid(
                "The version belongs to no template, so it cannot be archived.",
            ));
        };
        if self
            .store
            .version_archive(&caller.actor, template, Some(id), true, Utc::now())
            .await?
            .is_empty()
        {
            return Err(
                Fail::invalid("The version cannot be archived.").with_detail(
                    "It is the active one, the latest of a workspace, or still being imported.",
                ),
            );
        }
        self.record_archived(caller, &version, true).await;
        Ok(())
    }

    /// Takes a version back from the archive.
    ///
    /// # Errors
    /// [`Kind::Invalid`] when it is not there.
    pub async fn version_unarchive(
        &self,
        caller: &Caller,
        id: TemplateVersionId,
    ) -> Result<(), Fail> {
        let version = self.store.version_for_update(&caller.actor, id).await?;
        if !version.archived {
            return Err(Fail::invalid("The version is not archived."));
        }
        self.store
            .version_unarchive(&caller.actor, id, Utc::now())
            .await?;
        self.record_archived(caller, &version, false).await;
        Ok(())
    }

    async fn record_archived(&self, caller: &Caller, version: &VersionRow, archived: bool) {
        let change = Change::new(
            "write",
            "template_version",
            version.id,
            version.name.as_str(),
        )
        .within(version.organization_id);
        self.record(
            caller,
            change.between(
                &json!({"archived": !archived}),
                &json!({"archived": archived}),
            ),
        )
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_name_is_a_valid_one() {
        for _ in 0..100 {
            let name = random_name();
            assert!(names::check_version_name(&name).is_ok(), "{name}");
        }
    }

    #[test]
    fn tags_say_whose_daemons_may_run_a_job() {
        let user = Uuid::from_u128(7);
        let tags = |list: &[(&str, &str)]| {
            list.iter()
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .collect()
        };
        assert_eq!(
            job_tags(&tags(&[]), user),
            json!({"scope": "organization", "owner": ""})
        );
        assert_eq!(
            job_tags(&tags(&[("zone", "b"), ("owner", "eve")]), user),
            json!({"scope": "organization", "owner": "", "zone": "b"})
        );
        assert_eq!(
            job_tags(&tags(&[("scope", "user")]), user),
            json!({"scope": "user", "owner": user.to_string()})
        );
    }
}
