//! `coder whoami`

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::context::Context;
use crate::fail::Outcome;
use crate::ui::out::{outln, raw};
use crate::ui::table::{Column, column, pick, print_json, render};

/// Show who you are signed in as.
#[derive(Args, Debug)]
pub struct WhoamiArgs {
    /// Columns of the table: URL, Username, ID, Orgs, Roles.
    #[arg(
        short,
        long = "column",
        value_delimiter = ',',
        default_value = "url,username,id",
        value_name = "NAMES"
    )]
    columns: Vec<String>,

    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Table,
}

#[derive(Serialize)]
struct Row {
    url: String,
    username: String,
    #[serde(rename = "userID")]
    id: String,
    #[serde(rename = "organizationIDs")]
    organizations: String,
    #[serde(rename = "userRoles")]
    roles: String,
}

const COLUMNS: &[Column<Row>] = &[
    column("url", |row| row.url.clone()),
    column("username", |row| row.username.clone()),
    column("id", |row| row.id.clone()),
    column("orgs", |row| row.organizations.clone()),
    column("roles", |row| row.roles.clone()),
];

impl WhoamiArgs {
    pub async fn run(self, context: &Context) -> Outcome {
        let client = context.client()?;
        let user = client.user("me").await?;
        let organizations: Vec<String> = user
            .organization_ids
            .iter()
            .map(ToString::to_string)
            .collect();
        let roles: Vec<&str> = user.roles.iter().map(|role| role.name.as_str()).collect();
        let row = Row {
            url: client.url().to_owned(),
            username: user.username,
            id: user.id.to_string(),
            organizations: organizations.join(","),
            roles: roles.join(","),
        };
        match self.output {
            Format::Text => {
                outln!(
                    "You are {} at {}.",
                    context.style().bold(&row.username),
                    row.url
                );
                Ok(())
            }
            Format::Json => print_json(&[row]),
            Format::Table => {
                raw(render(&pick(COLUMNS, &self.columns)?, &[row]).as_bytes());
                Ok(())
            }
        }
    }
}
