//! What each property may hold (spec §2.4, §11), as data, and the check of a text against it.
//!
//! The reference checks none of this. Here all problems are found in one pass, each with its place and advice. A wrong
//! value is an error where the build needs it, and otherwise a warning: then nobody reads it.

use super::kind::Kind::{self, *};
use crate::diagnostic::{Code, Diagnostic, MOST, Severity, nearest, pointer};
use crate::jsonc::{Data, Node};

/// A property of a closed object.
#[derive(Debug)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a build needs it, so that a wrong one is an error.
    pub essential: bool,
}

const fn may(name: &'static str, kind: Kind) -> Property {
    let essential = false;
    Property {
        name,
        kind,
        essential,
    }
}

const fn must(name: &'static str, kind: Kind) -> Property {
    let essential = true;
    Property {
        name,
        kind,
        essential,
    }
}

/// Every property of a devcontainer.json.
pub static PROPERTIES: &[Property] = &[
    may("$schema", Text),
    may("name", Text),
    must("image", Text),
    must("build", Closed(BUILD)),
    must("dockerFile", Text),
    must("context", Text),
    must("dockerComposeFile", Either(&[Text, List(&Text)])),
    must("service", Text),
    may("runServices", List(&Text)),
    must("workspaceFolder", Text),
    may("workspaceMount", Text),
    must("features", Map(&Either(&[Map(&Any), Text, Bool, Number]))),
    must("overrideFeatureInstallOrder", List(&Text)),
    may("forwardPorts", List(&Either(&[Whole(0, 65_535), HostPort]))),
    may(
        "appPort",
        Either(&[
            Whole(0, 65_535),
            Text,
            List(&Either(&[Whole(0, 65_535), Text])),
        ]),
    ),
    may("portsAttributes", Map(&Closed(PORT))),
    may("otherPortsAttributes", Closed(OTHER_PORTS)),
    may("containerEnv", Map(&Text)),
    may("remoteEnv", Map(&Either(&[Text, Null]))),
    may("containerUser", Text),
    may("remoteUser", Text),
    may("updateRemoteUserUID", Bool),
    may(
        "userEnvProbe",
        Word(&[
            "none",
            "loginShell",
            "loginInteractiveShell",
            "interactiveShell",
        ]),
    ),
    may("overrideCommand", Bool),
    may(
        "shutdownAction",
        Word(&["none", "stopContainer", "stopCompose"]),
    ),
    may("init", Bool),
    may("privileged", Bool),
    may("capAdd", List(&Text)),
    may("securityOpt", List(&Text)),
    may("runArgs", List(&Text)),
    may("mounts", List(&Either(&[Text, Closed(MOUNT)]))),
    may("initializeCommand", Command),
    may("onCreateCommand", Command),
    may("updateContentCommand", Command),
    may("postCreateCommand", Command),
    may("postStartCommand", Command),
    may("postAttachCommand", Command),
    may("waitFor", Word(WAIT_FOR)),
    may("hostRequirements", Closed(HOST)),
    may("customizations", Map(&Any)),
    may("secrets", Names(&Closed(SECRET))),
    may("additionalProperties", Map(&Any)),
    may("extensions", List(&Text)),
    may("settings", Map(&Any)),
    may("devPort", Whole(0, 65_535)),
];

/// The hooks that tools may be told to wait for.
const WAIT_FOR: &[&str] = &[
    "initializeCommand",
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
];

static BUILD: &[Property] = &[
    must("dockerfile", Text),
    must("context", Text),
    must("args", Map(&Text)),
    must("target", Text),
    must("cacheFrom", Either(&[Text, List(&Text)])),
    must("options", List(&Text)),
];

const AUTO_FORWARD: &[&str] = &[
    "notify",
    "openBrowser",
    "openBrowserOnce",
    "openPreview",
    "silent",
    "ignore",
];
const AUTO_FORWARD_OTHERS: &[&str] = &["notify", "openBrowser", "openPreview", "silent", "ignore"];

static PORT: &[Property] = &[
    may("label", Text),
    may("protocol", Word(&["http", "https"])),
    may("onAutoForward", Word(AUTO_FORWARD)),
    may("requireLocalPort", Bool),
    may("elevateIfNeeded", Bool),
];

static OTHER_PORTS: &[Property] = &[
    may("label", Text),
    may("protocol", Word(&["http", "https"])),
    may("onAutoForward", Word(AUTO_FORWARD_OTHERS)),
    may("requireLocalPort", Bool),
    may("elevateIfNeeded", Bool),
];

static MOUNT: &[Property] = &[
    may("type", Word(&["bind", "volume"])),
    may("source", Text),
    may("target", Text),
];

static HOST: &[Property] = &[
    may("cpus", Whole(1, u64::MAX)),
    may("memory", Size),
    may("storage", Size),
    may("gpu", Either(&[Bool, Word(&["optional"]), Closed(GPU)])),
];

static GPU: &[Property] = &[may("cores", Whole(1, u64::MAX)), may("memory", Size)];

static SECRET: &[Property] = &[may("description", Text), may("documentationUrl", Text)];

/// Checks the object of a devcontainer.json. The diagnostics carry pointers; positions are added from them.
pub fn check(root: &Node) -> Vec<(Diagnostic, crate::jsonc::Span)> {
    let mut found = Vec::new();
    closed(PROPERTIES, root, "", false, true, &mut found);
    found
}

type Found = Vec<(Diagnostic, crate::jsonc::Span)>;

fn closed(
    table: &'static [Property],
    node: &Node,
    at: &str,
    essential: bool,
    top: bool,
    found: &mut Found,
) {
    let Data::Object(members) = &node.data else {
        return;
    };
    for (index, member) in members.iter().enumerate() {
        if found.len() >= MOST {
            return;
        }
        let here = pointer(at, &member.key);
        let Some(property) = table.iter().find(|property| property.name == member.key) else {
            let text = format!("unknown property `{}`", member.key);
            let mut diagnostic = Diagnostic::warning(Code::UnknownProperty, text).at(here);
            if let Some(near) = nearest(&member.key, table.iter().map(|p| p.name)) {
                diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"));
            } else if !top {
                let names: Vec<_> = table.iter().map(|p| p.name).collect();
                diagnostic = diagnostic.suggest(format!("known are {}", names.join(", ")));
            }
            found.push((diagnostic, member.key_span));
            continue;
        };
        // Of a key that is given twice, only the last counts.
        if members[index + 1..]
            .iter()
            .any(|other| other.key == member.key)
        {
            continue;
        }
        let severe = essential || property.essential;
        value(&property.kind, &member.value, &here, severe, found);
    }
}

fn value(kind: &Kind, node: &Node, at: &str, essential: bool, found: &mut Found) {
    if found.len() >= MOST {
        return;
    }
    let kind = match kind {
        Either(kinds) => kinds.iter().find(|kind| kind.takes(node)).unwrap_or(kind),
        kind => kind,
    };
    let severity = if essential {
        Severity::Error
    } else {
        Severity::Warning
    };
    if !kind.takes(node) {
        let name = at.rsplit('/').next().unwrap_or_default();
        let text = format!("`{name}` is {}", node.to_value().kind());
        let diagnostic = Diagnostic::error(Code::WrongType, text)
            .suggest(format!("expected {}", kind.expected()))
            .at(at);
        let diagnostic = Diagnostic {
            severity,
            ..diagnostic
        };
        found.push((diagnostic, node.span));
        return;
    }
    match kind {
        Closed(table) => closed(table, node, at, essential, false, found),
        Map(inner) | Names(inner) => {
            let Data::Object(members) = &node.data else {
                return;
            };
            for member in members {
                let here = pointer(at, &member.key);
                if matches!(kind, Names(_)) && !is_name(&member.key) {
                    let text = format!("`{}` cannot be the name of a variable", member.key);
                    let advice = "letters, digits and `_`, not starting with a digit";
                    let diagnostic = Diagnostic::warning(Code::WrongValue, text).suggest(advice);
                    found.push((diagnostic.at(&here), member.key_span));
                }
                value(inner, &member.value, &here, essential, found);
            }
        }
        List(inner) => {
            if let Data::Array(items) = &node.data {
                for (index, item) in items.iter().enumerate() {
                    value(inner, item, &format!("{at}/{index}"), essential, found);
                }
            }
        }
        kind => {
            if let Some((text, advice)) = kind.wrong(node) {
                let diagnostic = Diagnostic::error(Code::WrongValue, text).suggest(advice);
                let diagnostic = Diagnostic {
                    severity,
                    ..diagnostic
                };
                found.push((diagnostic.at(at), node.span));
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
