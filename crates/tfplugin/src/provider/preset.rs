//! `coder_workspace_preset`: values of parameters under a name, and how many workspaces to prebuild.

use super::check;
use super::prebuild_schedule::Schedule;
use crate::diagnostics::{Diagnostic, Diagnostics, Path};
use crate::plugin::DataSource;
use crate::schema::{Attribute, Block, Check, NestedBlock, Schema};
use crate::value::{Object, Type};

/// The data source.
pub struct Preset;

/// Seconds after which an unclaimed workspace may be thrown away: 0 for never, else an hour to a year.
const SHORTEST_TTL: i64 = 3600;
const LONGEST_TTL: i64 = 31_536_000;

fn check_time_zone(text: &str) -> Result<(), String> {
    match text.parse::<chrono_tz::Tz>() {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("{text:?} is not a time zone such as Europe/Berlin")),
    }
}

fn check_schedule(text: &str) -> Result<(), String> {
    Schedule::parse(text).map(|_| ())
}

fn prebuilds() -> NestedBlock {
    let instances = || {
        Attribute::required("instances", Type::Number)
            .doc("How many workspaces are kept ready.")
            .check(Check::AtLeast(0))
    };
    let ttl = Attribute::required("ttl", Type::Number)
        .doc("Seconds after which an unclaimed workspace is replaced; 0 for never.");
    let cron = Attribute::required("cron", Type::String)
        .doc("When it holds: *, hour, day of month, month, day of week.")
        .check(Check::Text(check_schedule));
    let timezone = Attribute::required("timezone", Type::String)
        .doc("The time zone of the schedules.")
        .check(Check::Text(check_time_zone));
    let schedule = Block::new(vec![cron, instances()], Vec::new());
    let scheduling = Block::new(
        vec![timezone],
        vec![NestedBlock::list("schedule", schedule).min(1)],
    );
    let block = Block::new(
        vec![instances()],
        vec![
            NestedBlock::set("expiration_policy", Block::new(vec![ttl], Vec::new())).max(1),
            NestedBlock::list("scheduling", scheduling).max(1),
        ],
    );
    NestedBlock::set("prebuilds", block).max(1)
}

#[tonic::async_trait]
impl DataSource for Preset {
    fn name(&self) -> &'static str {
        "coder_workspace_preset"
    }

    fn schema(&self) -> Schema {
        let attributes = vec![
            Attribute::optional("default", Type::Bool)
                .doc("Whether it is chosen at first.")
                .default(false),
            Attribute::optional("description", Type::String)
                .doc("What it is for.")
                .check(Check::MaxChars(128)),
            Attribute::optional("icon", Type::String)
                .doc("URL or path of a picture.")
                .check(Check::MaxChars(256))
                .check(Check::Text(check::icon)),
            Attribute::computed("id", Type::String).doc("The name again."),
            Attribute::required("name", Type::String)
                .doc("The label in the interface.")
                .check(Check::Text(check::not_empty)),
            Attribute::optional("parameters", Type::map(Type::String))
                .doc("Values by the names of parameters."),
        ];
        Schema {
            version: 1,
            block: Block::new(attributes, vec![prebuilds()]),
        }
    }

    fn validate(&self, config: &Object, found: &mut Diagnostics) {
        if let crate::value::Value::Map(parameters) = config.get("parameters") {
            for (name, value) in parameters.iter() {
                if value.as_str() == Some("") {
                    let detail = format!("{name:?} has an empty value; give one or leave it out");
                    let problem = Diagnostic::error("empty value in \"parameters\"", detail);
                    found.push(problem.at(Path::to("parameters")));
                }
            }
        }
        let at = || Path::to("prebuilds");
        for (_, prebuilds) in config.objects("prebuilds") {
            for (_, policy) in prebuilds.objects("expiration_policy") {
                if let Some(ttl) = policy.int("ttl")
                    && ttl != 0
                    && !(SHORTEST_TTL..=LONGEST_TTL).contains(&ttl)
                {
                    let detail = format!("{ttl} is neither 0 nor {SHORTEST_TTL} to {LONGEST_TTL}");
                    found.push(Diagnostic::error("invalid value for \"ttl\"", detail).at(at()));
                }
            }
            for (_, scheduling) in prebuilds.objects("scheduling") {
                let schedules: Vec<(&str, Schedule)> = scheduling
                    .objects("schedule")
                    .filter_map(|(_, schedule)| schedule.str("cron"))
                    .filter_map(|cron| Some((cron, Schedule::parse(cron).ok()?)))
                    .collect();
                for (index, (cron, schedule)) in schedules.iter().enumerate() {
                    for (other_cron, other) in &schedules[index + 1..] {
                        if schedule.overlaps(other) {
                            let detail = format!("{cron:?} and {other_cron:?} hold together");
                            found.push(Diagnostic::error("schedules overlap", detail).at(at()));
                        }
                    }
                }
            }
        }
    }

    async fn read(&self, config: &Object, state: &mut Object) -> Result<(), Diagnostic> {
        state.set("id", config.str("name").unwrap_or_default());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn errors(ttl: i64) -> usize {
        let mut policy = Object::new();
        policy.set("ttl", ttl);
        let mut prebuilds = Object::new();
        prebuilds.set("expiration_policy", vec![Value::Map(policy)]);
        let mut config = Object::new();
        config.set("prebuilds", vec![Value::Map(prebuilds)]);
        let mut found = Diagnostics::new();
        Preset.validate(&config, &mut found);
        found.iter().count()
    }

    #[test]
    fn a_prebuilt_workspace_lives_an_hour_to_a_year_or_for_good() {
        assert_eq!([0, 3600, 31_536_000].map(errors), [0, 0, 0]);
        assert_eq!([-1, 1, 3599, 31_536_001].map(errors), [1, 1, 1, 1]);
    }
}
