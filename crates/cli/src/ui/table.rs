//! Tables and JSON: the two forms of every list. Must not fetch what it shows.

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::fail::{Fail, Outcome};
use crate::ui::out::{outln, raw};

/// A column: its name, and how a row fills it.
pub struct Column<R> {
    /// The name in lower case, as `-c` takes it; the head is the same in upper case.
    pub name: &'static str,
    /// The text of a cell.
    pub cell: fn(&R) -> String,
}

/// Shorthand for a column.
pub const fn column<R>(name: &'static str, cell: fn(&R) -> String) -> Column<R> {
    Column { name, cell }
}

/// How a list is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Aligned columns for people.
    #[default]
    Table,
    /// JSON for programs.
    Json,
}

/// The flag that chooses between table and JSON.
#[derive(Args, Clone, Debug)]
pub struct FormatArgs {
    /// How to write the result.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: ListFormat,
}

/// Writes rows as a table of the wanted columns, or `json` as JSON.
pub fn print_list<R>(
    rows: &[R],
    all: &[Column<R>],
    wanted: &[String],
    format: ListFormat,
    json: &impl Serialize,
) -> Outcome {
    match format {
        ListFormat::Json => print_json(json),
        ListFormat::Table => {
            let columns = pick(all, wanted)?;
            raw(render(&columns, rows).as_bytes());
            Ok(())
        }
    }
}

/// Writes a value as indented JSON.
pub fn print_json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Fail::new(format!("cannot write JSON: {error}")))?;
    outln!("{text}");
    Ok(())
}

/// The columns that are asked for, in that order.
pub fn pick<'a, R>(all: &'a [Column<R>], wanted: &[String]) -> Outcome<Vec<&'a Column<R>>> {
    wanted
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty())
        .map(|name| {
            all.iter()
                .find(|column| column.name.eq_ignore_ascii_case(name))
                .ok_or_else(|| {
                    let names: Vec<&str> = all.iter().map(|column| column.name).collect();
                    Fail::new(format!("there is no column {name:?}"))
                        .hint(format!("the columns are: {}", names.join(", ")))
                })
        })
        .collect()
}

/// The table: heads in upper case, two spaces between columns.
pub fn render<R>(columns: &[&Column<R>], rows: &[R]) -> String {
    let heads: Vec<String> = columns
        .iter()
        .map(|column| column.name.to_uppercase())
        .collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            columns
                .iter()
                .map(|column| (column.cell)(row).replace('\n', " "))
                .collect()
        })
        .collect();
    let mut widths: Vec<usize> = heads.iter().map(|head| width(head)).collect();
    for row in &cells {
        for (place, cell) in row.iter().enumerate() {
            widths[place] = widths[place].max(width(cell));
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&heads).chain(&cells) {
        let mut line = String::new();
        for (place, cell) in row.iter().enumerate() {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', widths[place] - width(cell) + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How wide text is on the screen, colour codes not counted.
pub fn width(text: &str) -> usize {
    let mut count = 0;
    let mut in_code = false;
    for c in text.chars() {
        match (in_code, c) {
            (false, '\x1b') => in_code = true,
            (true, 'm') => in_code = false,
            (false, _) => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column<(&str, u32)>] = &[
        column("name", |row| row.0.to_owned()),
        column("used by", |row| row.1.to_string()),
    ];

    #[test]
    fn columns_are_aligned_and_heads_are_upper_case() {
        let columns = pick(COLUMNS, &["name".into(), "Used By".into()]).unwrap();
        assert_eq!(
            render(&columns, &[("docker", 1), ("a-long-name", 12)]),
            "NAME         USED BY\ndocker       1\na-long-name  12\n"
        );
    }

    #[test]
    fn an_unknown_column_names_those_that_exist() {
        let error = pick(COLUMNS, &["size".into()]).err().unwrap();
        assert!(
            error
                .render("x", false)
                .unwrap()
                .contains("the columns are: name, used by")
        );
    }

    #[test]
    fn colour_codes_take_no_room() {
        assert_eq!(width("\x1b[1;31mred\x1b[0m"), 3);
    }
}
