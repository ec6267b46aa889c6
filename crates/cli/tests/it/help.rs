//! All help texts in one file, so that a change of the command line is seen in review.
//! `UPDATE_SNAPSHOTS=1 cargo test -p coder-cli` writes the file anew.

use clap::Command;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/help.txt");

fn write_help(command: &mut Command, path: &str, is_root: bool, text: &mut String) {
    let mut shown = command
        .clone()
        .term_width(100)
        // The environment of whoever runs the test must not show, nor the global flags at every command.
        .mut_args(|arg| {
            let hide = !is_root && arg.is_global_set();
            let arg = arg.hide_env_values(true);
            if hide { arg.hide(true) } else { arg }
        });
    text.push_str(&format!("===== {path}\n\n{}\n", shown.render_long_help()));
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .filter(|name| name != "help")
        .collect();
    for name in names {
        let sub = command.find_subcommand_mut(&name).unwrap();
        write_help(sub, &format!("{path} {name}"), false, text);
    }
}

#[test]
fn the_help_of_every_command_is_as_recorded() {
    let mut command = coder_cli::command();
    command.build();
    let mut text = String::new();
    write_help(&mut command, "coder", true, &mut text);
    let text: String = text
        .lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(SNAPSHOT, &text).unwrap();
    }
    let recorded = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    let first = recorded.lines().zip(text.lines()).find(|(a, b)| a != b);
    assert!(
        recorded == text,
        "the help differs from tests/it/help.txt, first at {first:?}; write it anew with UPDATE_SNAPSHOTS=1"
    );
}

#[test]
fn every_command_and_every_flag_has_a_help_text() {
    fn check(command: &Command, path: &str, missing: &mut Vec<String>) {
        if command.get_about().is_none() {
            missing.push(path.to_owned());
        }
        for arg in command
            .get_arguments()
            .filter(|arg| arg.get_help().is_none())
        {
            missing.push(format!("{path} {}", arg.get_id()));
        }
        for sub in command.get_subcommands() {
            check(sub, &format!("{path} {}", sub.get_name()), missing);
        }
    }
    let mut missing = Vec::new();
    check(&coder_cli::command(), "coder", &mut missing);
    assert!(missing.is_empty(), "without help: {}", missing.join(", "));
}

#[test]
fn the_command_tree_has_no_contradictions() {
    coder_cli::command().debug_assert();
}
