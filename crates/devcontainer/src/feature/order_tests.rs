//! The worked orders of spec §6.10, and what goes wrong.

use super::*;

/// Features by their keys: what each says of itself. `#` and what follows gives the digest.
fn knowledge(features: &[(&str, &str)]) -> Knowledge {
    let known = features.iter().map(|(key, text)| {
        let (key, digest) = key.split_once('#').unwrap_or((key, key));
        let reference = Reference::read(key, ".devcontainer").unwrap();
        let id = reference.resource();
        let id = id.rsplit('/').next().unwrap();
        let id = id
            .trim_start_matches("devcontainer-feature-")
            .trim_end_matches(".tgz");
        let text = match text.contains("\"id\"") {
            true => (*text).to_owned(),
            false => format!("{{\"id\":\"{id}\",{}", &text[1..]),
        };
        let digest = matches!(reference, Reference::Oci(_)).then(|| digest.to_owned());
        let known = Known {
            spec: Spec::parse(&text).unwrap(),
            digest,
        };
        (reference.key(), Ok(known))
    });
    known.collect()
}

fn object(text: &str) -> Object {
    match Value::parse(text).unwrap() {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn run_full(features: &str, order: &[&str], knowledge: &Knowledge) -> Result<Plan, MakePlan> {
    let order: Vec<String> = order.iter().map(|key| (*key).to_owned()).collect();
    let wanted = Wanted {
        features: &object(features),
        additional: None,
        override_order: &order,
        config_folder: ".devcontainer",
    };
    plan(&wanted, knowledge)
}

/// The last parts of the references with the option `n`, in order.
fn run(features: &str, order: &[&str], known: &[(&str, &str)]) -> String {
    match run_full(features, order, &knowledge(known)) {
        Ok(plan) => {
            let steps = plan.steps.iter().map(|step| {
                let id = step.user_id.rsplit('/').next().unwrap();
                let id = id.trim_start_matches("devcontainer-feature-");
                match step
                    .options
                    .as_object()
                    .and_then(|options| options.get("n"))
                {
                    Some(n) => format!("{id}({})", n.as_str().unwrap()),
                    None => id.to_owned(),
                }
            });
            steps.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn check_96_local_soft_and_hard() {
    let soft = [
        ("./a", r#"{"installsAfter":["./c"]}"#),
        ("./c", r#"{"x":1}"#),
    ];
    assert_eq!(run(r#"{"./a":{},"./c":{}}"#, &[], &soft), "c a");
    let hard = [
        ("./a", r#"{"dependsOn":{"./b":{"n":"50"}}}"#),
        ("./b", r#"{"x":1}"#),
    ];
    assert_eq!(run(r#"{"./a":{}}"#, &[], &hard), "b(50) a");
}

const SET: [(&str, &str); 5] = [
    ("r.io/n/a", r#"{"dependsOn":{"r.io/n/e":{"n":"50"}}}"#),
    (
        "r.io/n/b",
        r#"{"dependsOn":{"r.io/n/c":{"n":"20"},"r.io/n/d":{"n":"30"}}}"#,
    ),
    (
        "r.io/n/c",
        r#"{"dependsOn":{"r.io/n/a":{"n":"40"},"r.io/n/e":{"n":"50"}}}"#,
    ),
    ("r.io/n/d", r#"{"x":1}"#),
    ("r.io/n/e", r#"{"x":1}"#),
];

#[test]
fn checks_96_and_97_one_feature_with_several_options() {
    let config = r#"{"r.io/n/b":{"n":"400"},"r.io/n/a":{"n":"10"}}"#;
    assert_eq!(
        run(config, &[], &SET),
        "d(30) e(50) a(10) a(40) c(20) b(400)"
    );
    let mut set = SET.to_vec();
    set.push(("r.io/n/e:1", r#"{"x":1}"#));
    let config = r#"{"r.io/n/b":{"n":"400"},"r.io/n/a":{"n":"10"},"r.io/n/e:1":{}}"#;
    assert_eq!(
        run(config, &[], &set),
        "d(30) e:1 e(50) a(10) a(40) c(20) b(400)"
    );
}

#[test]
fn check_96_kinds_are_compared_by_the_whole_reference() {
    let known = [
        ("https://e/devcontainer-feature-b.tgz", r#"{"x":1}"#),
        ("ghcr.io/n/z", r#"{"x":1}"#),
        ("localhost:5000/n/a", r#"{"x":1}"#),
        ("./c", r#"{"x":1}"#),
    ];
    let config = r#"{"localhost:5000/n/a":{},"https://e/devcontainer-feature-b.tgz":{},"ghcr.io/n/z":{},"./c":{}}"#;
    assert_eq!(run(config, &[], &known), "c z b.tgz a");
}

#[test]
fn check_96_tags_are_texts() {
    let known = [
        ("r.io/n/i", r#"{"dependsOn":{"r.io/n/e:2.0.0":{"n":"50"}}}"#),
        (
            "r.io/n/j",
            r#"{"dependsOn":{"r.io/n/a:2.0.0":{"n":"60"},"r.io/n/a:2.0.1":{"n":"60"},"r.io/n/c":{"n":"100"}}}"#,
        ),
        ("r.io/n/e:2.0.0", r#"{"x":1}"#),
        ("r.io/n/a:2.0.0", r#"{"x":1}"#),
        ("r.io/n/a:2.0.1", r#"{"x":1}"#),
    ];
    let known = [&known[..], &SET[..]].concat();
    // What the specification lists, with e(50), which a and c need besides.
    assert_eq!(
        run(
            r#"{"r.io/n/i":{"n":"50"},"r.io/n/j":{"n":"100"}}"#,
            &[],
            &known
        ),
        "a:2.0.0(60) a:2.0.1(60) e:2.0.0(50) e(50) a(40) i(50) c(100) j(100)"
    );
}

#[test]
fn check_96_override_beats_what_does_not_depend() {
    let known = [
        (
            "./a",
            r#"{"dependsOn":{"./b":{},"./d":{}},"installsAfter":["./c"]}"#,
        ),
        ("./b", r#"{"dependsOn":{"./c":{}}}"#),
        ("./c", r#"{"x":1}"#),
        ("./d", r#"{"x":1}"#),
    ];
    assert_eq!(run(r#"{"./a":{}}"#, &["./c", "./d"], &known), "c d b a");
    let known = [
        ("./a", r#"{"x":1}"#),
        ("./b", r#"{"dependsOn":{"./a":{}}}"#),
        ("./c", r#"{"x":1}"#),
    ];
    let config = r#"{"./b":{},"./c":{}}"#;
    assert_eq!(run(config, &["./a", "./b", "./c"], &known), "a b c");
}

#[test]
fn check_96_local_and_registry_with_override() {
    let local = [
        (
            "./a",
            r#"{"dependsOn":{"./b":{},"./c":{},"./d":{},"r.io/n/b":{"n":"400"}}}"#,
        ),
        ("./b", r#"{"x":1}"#),
        ("./c", r#"{"x":1}"#),
        ("./d", r#"{"x":1}"#),
    ];
    let known = [&local[..], &SET[..]].concat();
    assert_eq!(
        run(r#"{"./a":{}}"#, &["r.io/n/a", "./d"], &known),
        "d b c d(30) e(50) a(40) c(20) b(400) a"
    );
}

#[test]
fn check_96_options_with_fewer_keys_first() {
    let known = [
        ("./b", r#"{"x":1}"#),
        (
            "./a",
            r#"{"dependsOn":{"./b":{"A":"b","B":"b"},"./B/../b":{"A":"a","B":"b"},"./b/.":{"A":"a","B":"a"},"././b":{"A":"b","B":"a"},"./b/":{}}}"#,
        ),
    ];
    let plan = run_full(r#"{"./a":{}}"#, &[], &knowledge(&known)).unwrap();
    let steps = plan.steps.iter().map(|step| step.options.to_string());
    assert_eq!(
        steps.collect::<Vec<_>>(),
        [
            "{}",
            r#"{"A":"a","B":"a"}"#,
            r#"{"A":"a","B":"b"}"#,
            r#"{"A":"b","B":"a"}"#,
            r#"{"A":"b","B":"b"}"#,
            "{}",
        ]
    );
    assert_eq!(plan.steps[5].folder, "a_5");
}

#[test]
fn check_98_two_tags_of_one_digest_are_installed_once() {
    let known = [
        ("r.io/n/x:2#same", r#"{"x":1}"#),
        ("r.io/n/x#same", r#"{"x":1}"#),
    ];
    assert_eq!(
        run(r#"{"r.io/n/x:2":{},"r.io/n/x":{}}"#, &[], &known),
        "x:2"
    );
    let other = r#"{"r.io/n/x:2":{},"r.io/n/x":{"n":"1"}}"#;
    assert_eq!(run(other, &[], &known), "x:2 x(1)");
}

#[test]
fn check_99_a_wish_finds_a_feature_by_its_old_and_new_name() {
    // The Feature was renamed from `old` to `new`; its copy under the old id says what it is called today.
    let known = [
        ("r.io/n/new", r#"{"legacyIds":["old"]}"#),
        (
            "r.io/n/old",
            r#"{"id":"old","currentId":"new","legacyIds":["old"]}"#,
        ),
        ("r.io/n/a", r#"{"installsAfter":["r.io/n/old"]}"#),
        ("r.io/n/b", r#"{"installsAfter":["r.io/n/new"]}"#),
    ];
    assert_eq!(
        run(r#"{"r.io/n/a":{},"r.io/n/new":{}}"#, &[], &known),
        "new a"
    );
    assert_eq!(
        run(r#"{"r.io/n/b":{},"r.io/n/old":{}}"#, &[], &known),
        "old b"
    );
}

#[test]
fn check_100_a_circle_is_named() {
    let soft = [
        ("./a", r#"{"installsAfter":["./b"]}"#),
        ("./b", r#"{"installsAfter":["./a"]}"#),
    ];
    assert_eq!(
        run(r#"{"./a":{},"./b":{}}"#, &[], &soft),
        "these Features wait for each other: ./a → ./b → ./a"
    );
    let hard = [
        ("./x", r#"{"dependsOn":{"./a":{}}}"#),
        ("./a", r#"{"dependsOn":{"./b":{}}}"#),
        ("./b", r#"{"dependsOn":{"./a":{}}}"#),
    ];
    assert_eq!(
        run(r#"{"./x":{}}"#, &[], &hard),
        "these Features wait for each other: ./a → ./b → ./a"
    );
}

#[test]
fn check_101_an_override_that_matches_nothing_is_a_warning() {
    let known = knowledge(&[("./a", r#"{"x":1}"#)]);
    let plan = run_full(r#"{"./a":{}}"#, &["r.io/n/x", "./a"], &known).unwrap();
    assert_eq!(plan.warnings.len(), 1);
    assert_eq!(plan.warnings[0].pointer, "/overrideFeatureInstallOrder/0");
}

#[test]
fn check_102_a_wish_is_looked_up_only_if_it_could_matter_and_need_not_be_found() {
    let known = [
        (
            "r.io/n/a",
            r#"{"installsAfter":["elsewhere.io/n/x","r.io/n/b"]}"#,
        ),
        ("r.io/n/c", r#"{"x":1}"#),
    ];
    let mut known = knowledge(&known);
    let config = r#"{"r.io/n/a":{},"r.io/n/c":{}}"#;
    let MakePlan::Missing(missing) = run_full(config, &[], &known).unwrap_err() else {
        panic!("something else is wrong");
    };
    let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing, ["r.io/n/b:latest"]);
    known.insert(missing[0].clone(), Err("no answer".into()));
    let plan = run_full(config, &[], &known).unwrap();
    assert_eq!(plan.steps.len(), 2);
    assert!(
        plan.warnings[0].message.contains("no answer"),
        "{:?}",
        plan.warnings
    );
}

#[test]
fn check_103_a_feature_that_is_needed_and_not_there_names_both() {
    let mut known = knowledge(&[("r.io/n/a", r#"{"dependsOn":{"r.io/n/b":{}}}"#)]);
    known.insert("r.io/n/b:latest".into(), Err("not found".into()));
    let error = run_full(r#"{"r.io/n/a":{}}"#, &[], &known).unwrap_err();
    assert_eq!(
        error.to_string(),
        "needed by the Feature r.io/n/a: the Feature r.io/n/b cannot be had: not found"
    );
    let known = knowledge(&[("r.io/n/a", r#"{"dependsOn":{"git":{}}}"#)]);
    let error = run_full(r#"{"r.io/n/a":{}}"#, &[], &known).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("needed by the Feature r.io/n/a"),
        "{error}"
    );
}

#[test]
fn all_that_is_missing_is_asked_for_at_once() {
    let known = Knowledge::new();
    let error = run_full(r#"{"r.io/n/a":{},"./b":{},"R.io/N/a":{}}"#, &[], &known);
    let Err(MakePlan::Missing(missing)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(missing.len(), 2);
}

#[test]
fn null_as_options_is_an_error() {
    let error = run(r#"{"./a":null}"#, &[], &[("./a", r#"{"x":1}"#)]);
    assert_eq!(
        error,
        "the options of the Feature ./a are null; expected an object"
    );
}

#[test]
fn features_of_the_command_line_follow_and_do_not_replace() {
    let known = knowledge(&[("./a", r#"{"x":1}"#), ("./b", r#"{"x":1}"#)]);
    let wanted = Wanted {
        features: &object(r#"{"./b":{"n":"1"}}"#),
        additional: Some(&object(r#"{"./b":{"n":"2"},"./a":{}}"#)),
        override_order: &[],
        config_folder: ".devcontainer",
    };
    let plan = plan(&wanted, &known).unwrap();
    let steps = plan
        .steps
        .iter()
        .map(|step| (step.user_id.as_str(), step.additional));
    assert_eq!(steps.collect::<Vec<_>>(), [("./a", true), ("./b", false)]);
}
