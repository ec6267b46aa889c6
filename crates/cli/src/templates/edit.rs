//! `coder templates edit`

use std::time::Duration;

use clap::Args;
use coder_wire as wire;

use super::OrganizationFlag;
use crate::context::Context;
use crate::fail::{Fail, Outcome};
use crate::ui::duration;
use crate::ui::out::outln;

/// Change the settings of a template. What is not named stays as it is.
#[derive(Args, Debug)]
pub struct EditArgs {
    /// The template.
    template: String,

    /// The new name.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The name that people see.
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,

    /// What the template is for.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Why the template should not be used any more; an empty text takes that back.
    #[arg(long, value_name = "TEXT")]
    deprecated: Option<String>,

    /// The path or address of an icon.
    #[arg(long, value_name = "ICON")]
    icon: Option<String>,

    /// After how long workspaces stop by themselves; 0 for never.
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    default_ttl: Option<Duration>,

    /// How far activity moves the stop.
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    activity_bump: Option<Duration>,

    /// Days on which workspaces may start by themselves; "all" for every day.
    #[arg(long, value_delimiter = ',', value_name = "DAYS")]
    autostart_requirement_weekdays: Option<Vec<String>>,

    /// Days on which workspaces must stop once; "none" for no such day.
    #[arg(long, value_delimiter = ',', value_name = "DAYS")]
    autostop_requirement_weekdays: Option<Vec<String>>,

    /// Every how many weeks they must stop.
    #[arg(long, value_name = "NUMBER")]
    autostop_requirement_weeks: Option<i64>,

    /// After how long a failed start is cleaned up; 0 for never.
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    failure_ttl: Option<Duration>,

    /// After how long without use a workspace becomes dormant; 0 for never.
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    dormancy_threshold: Option<Duration>,

    /// After how long a dormant workspace is deleted; 0 for never.
    #[arg(long, value_parser = duration::parse, value_name = "DURATION")]
    dormancy_auto_deletion: Option<Duration>,

    /// Whether people may cancel a running build.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false")]
    allow_user_cancel_workspace_jobs: Option<bool>,

    /// Whether people may set their own start schedule.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false")]
    allow_user_autostart: Option<bool>,

    /// Whether people may set their own stop.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false")]
    allow_user_autostop: Option<bool>,

    /// Whether workspaces must use the active version at each start.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "true|false")]
    require_active_version: Option<bool>,

    /// Take the template away from everybody who has no role on it.
    #[arg(long)]
    private: bool,

    /// Do not ask whether to go on.
    #[arg(short, long)]
    yes: bool,

    #[command(flatten)]
    organization: OrganizationFlag,
}

const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Checks names of days; `word` stands for `instead`.
fn days(given: &[String], flag: &str, word: &str, instead: &[&str]) -> Outcome<Vec<String>> {
    if given == [word] {
        return Ok(instead.iter().map(|day| (*day).to_owned()).collect());
    }
    let check = |day: &String| {
        let day = day.trim().to_ascii_lowercase();
        if DAYS.contains(&day.as_str()) {
            Ok(day)
        } else {
            Err(Fail::new(format!("--{flag}: {day:?} is no day"))
                .hint(format!("use {word} or: {}", DAYS.join(", "))))
        }
    };
    given.iter().map(check).collect()
}

impl EditArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let template = self.organization.template(context, &self.template).await?;
        let autostart_requirement = match &self.autostart_requirement_weekdays {
            Some(given) => Some(wire::TemplateAutostartRequirement {
                days_of_week: days(given, "autostart-requirement-weekdays", "all", &DAYS)?,
            }),
            None => None,
        };
        let autostop_requirement = match (
            &self.autostop_requirement_weekdays,
            self.autostop_requirement_weeks,
        ) {
            (None, None) => None,
            (given, weeks) => Some(wire::TemplateAutostopRequirement {
                days_of_week: match given {
                    Some(given) => days(given, "autostop-requirement-weekdays", "none", &[])?,
                    None => template.autostop_requirement.days_of_week.clone(),
                },
                weeks: weeks.unwrap_or(template.autostop_requirement.weeks),
            }),
        };
        let request = wire::UpdateTemplateMeta {
            name: self.name,
            display_name: self.display_name,
            description: self.description,
            icon: self.icon,
            default_ttl_ms: self.default_ttl.map(duration::millis),
            activity_bump_ms: self.activity_bump.map(duration::millis),
            autostop_requirement,
            autostart_requirement,
            allow_user_autostart: self.allow_user_autostart,
            allow_user_autostop: self.allow_user_autostop,
            allow_user_cancel_workspace_jobs: self.allow_user_cancel_workspace_jobs,
            failure_ttl_ms: self.failure_ttl.map(duration::millis),
            time_til_dormant_ms: self.dormancy_threshold.map(duration::millis),
            time_til_dormant_autodelete_ms: self.dormancy_auto_deletion.map(duration::millis),
            require_active_version: self.require_active_version,
            deprecation_message: self.deprecated,
            disable_everyone_group_access: self.private.then_some(true),
            ..Default::default()
        };
        if request == wire::UpdateTemplateMeta::default() {
            return Err(Fail::new("nothing to change was named")
                .hint("coder templates edit --help shows what can be changed"));
        }
        context
            .prompt()
            .must_confirm(&format!("Change the template {}?", template.name), self.yes)?;
        client
            .template_edit(template.id, &complete(request, &template))
            .await?;
        outln!("The template {} has been changed.", template.name);
        Ok(())
    }
}

/// Names what stays, too: servers of other versions take some absent fields for empty ones.
fn complete(
    request: wire::UpdateTemplateMeta,
    template: &wire::Template,
) -> wire::UpdateTemplateMeta {
    wire::UpdateTemplateMeta {
        name: request.name.or_else(|| Some(template.name.clone())),
        display_name: request
            .display_name
            .or_else(|| Some(template.display_name.clone())),
        description: request
            .description
            .or_else(|| Some(template.description.clone())),
        icon: request.icon.or_else(|| Some(template.icon.clone())),
        default_ttl_ms: request.default_ttl_ms.or(Some(template.default_ttl_ms)),
        activity_bump_ms: request.activity_bump_ms.or(Some(template.activity_bump_ms)),
        autostop_requirement: request
            .autostop_requirement
            .or_else(|| Some(template.autostop_requirement.clone())),
        autostart_requirement: request
            .autostart_requirement
            .or_else(|| Some(template.autostart_requirement.clone())),
        allow_user_autostart: request
            .allow_user_autostart
            .or(Some(template.allow_user_autostart)),
        allow_user_autostop: request
            .allow_user_autostop
            .or(Some(template.allow_user_autostop)),
        allow_user_cancel_workspace_jobs: request
            .allow_user_cancel_workspace_jobs
            .or(Some(template.allow_user_cancel_workspace_jobs)),
        failure_ttl_ms: request.failure_ttl_ms.or(Some(template.failure_ttl_ms)),
        time_til_dormant_ms: request
            .time_til_dormant_ms
            .or(Some(template.time_til_dormant_ms)),
        time_til_dormant_autodelete_ms: request
            .time_til_dormant_autodelete_ms
            .or(Some(template.time_til_dormant_autodelete_ms)),
        require_active_version: request
            .require_active_version
            .or(Some(template.require_active_version)),
        ..request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_checked_and_words_stand_for_sets() {
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(days(&words("all"), "x", "all", &DAYS).unwrap().len(), 7);
        assert_eq!(
            days(&words("Monday,friday"), "x", "all", &DAYS).unwrap(),
            ["monday", "friday"]
        );
        assert!(days(&words("someday"), "x", "all", &DAYS).is_err());
    }
}
