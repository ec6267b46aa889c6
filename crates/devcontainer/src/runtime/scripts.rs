//! Hooks and environment as scripts for a POSIX shell.

use super::run_args::RunArgs;
use super::shell::{double_quoted, is_identifier, rewritten, single_quoted};
use super::source;
use crate::config::command::{Command, Hook, Single};
use crate::json::{Object, Value};
use crate::merge::Merged;
use crate::metadata::Entry;

/// A script, or `null`, for each hook: one block for each entry that has it, in the order of the label. The first block
/// that fails ends the script with its code.
pub fn lifecycle(entries: &[Entry], config: &Object, warnings: &mut Vec<String>) -> Object {
    let mut scripts = Object::new();
    for hook in Hook::ALL {
        let property = hook.property();
        let mut blocks = String::new();
        let mut add = |object: &Object, from: &str| {
            let Some(value) = object.get(property).filter(|value| **value != Value::Null) else {
                return;
            };
            match Command::read(value) {
                Some(command) => blocks.push_str(&block(property, from, &command)),
                None => warnings.push(format!(
                    "{property} of {from} is neither text, nor a list of texts, nor an object of these, and is skipped"
                )),
            }
        };
        match hook {
            // There is no machine of the user: only the configuration has a say.
            Hook::Initialize => add(config, "devcontainer.json"),
            _ => entries
                .iter()
                .for_each(|entry| add(&entry.raw, source(&entry.raw))),
        }
        let script = match blocks.is_empty() {
            true => Value::Null,
            false => format!("#!/bin/sh\n{blocks}exit 0\n").into(),
        };
        scripts.insert(property.to_owned(), script);
    }
    scripts
}

fn block(hook: &str, from: &str, command: &Command) -> String {
    let parts = command.parts();
    if parts.is_empty() {
        return String::new();
    }
    let what = format!("{hook} ({from})");
    let mut text = String::new();
    let names: Vec<&str> = parts.iter().filter_map(|(name, _)| *name).collect();
    let announced = match names.is_empty() {
        true => what.clone(),
        false => format!("{what}: {}", names.join(", ")),
    };
    text.push_str(&format!("printf '%s\\n' {}\n", single_quoted(&announced)));
    match command {
        Command::Parallel(_) => {
            text.push_str("code=0\n");
            for (index, (_, single)) in parts.iter().enumerate() {
                text.push_str(&format!("{} &\npid_{index}=$!\n", line(single)));
            }
            for index in 0..parts.len() {
                text.push_str(&format!("wait \"$pid_{index}\" || code=$?\n"));
            }
        }
        _ => {
            let single = &parts[0].1;
            text.push_str(&format!("code=0\n{} || code=$?\n", line(single)));
        }
    }
    let failed = single_quoted(&format!("{what} failed with exit code"));
    text.push_str(&format!(
        "if [ \"$code\" -ne 0 ]; then\n  printf '%s %s\\n' {failed} \"$code\" >&2\n  exit \"$code\"\nfi\n"
    ));
    text
}

fn line(single: &Single) -> String {
    match single {
        Single::Shell(line) => format!("/bin/sh -c {}", single_quoted(&rewritten(line))),
        Single::Exec(words) => {
            let words: Vec<String> = words.iter().map(|word| double_quoted(word)).collect();
            words.join(" ")
        }
    }
}

/// Scripts that export the environment of the container and of tools in it, or `null`.
pub fn environment(merged: &Merged, run_args: &RunArgs, warnings: &mut Vec<String>) -> Object {
    let object = |key: &str| merged.value.get(key).and_then(Value::as_object);
    let mut container: Vec<(String, String)> = run_args.env.clone();
    let mut remote = Vec::new();
    for (key, list) in [("containerEnv", &mut container), ("remoteEnv", &mut remote)] {
        for (name, value) in object(key).into_iter().flatten() {
            match value {
                Value::Null => {}
                Value::String(text) => list.push((name.clone(), text.clone())),
                other => list.push((name.clone(), other.to_string())),
            }
        }
    }
    let mut script = |what: &str, list: Vec<(String, String)>| {
        let mut lines = String::new();
        for (name, value) in list {
            match is_identifier(&name) {
                true => lines.push_str(&format!("export {name}={}\n", double_quoted(&value))),
                false => warnings.push(format!(
                    "{what}: {name} is no name of a variable in a shell, and is skipped"
                )),
            }
        }
        match lines.is_empty() {
            true => Value::Null,
            false => lines.into(),
        }
    };
    Object::from_iter([
        ("containerEnv".to_owned(), script("containerEnv", container)),
        ("remoteEnv".to_owned(), script("remoteEnv", remote)),
    ])
}
