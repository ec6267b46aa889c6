//! The checks of spec §19 about Dockerfiles.

use std::collections::BTreeMap;

use super::*;
use crate::diagnostic::Diagnostic;

fn inputs(args: &[(&str, &str)], target: &str) -> Inputs {
    let args = args.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
    Inputs {
        args: args.collect(),
        target: (!target.is_empty()).then(|| target.to_owned()),
    }
}

fn base_with(text: &str, args: &[(&str, &str)], target: &str) -> String {
    let file = Dockerfile::parse(text).unwrap();
    let inputs = inputs(args, target).with_platforms("linux/amd64", "linux/arm64/v8");
    match file.resolve(&inputs).unwrap().base {
        Base::Image(image) => image,
        Base::Scratch => "(scratch)".into(),
    }
}

fn base(text: &str) -> String {
    base_with(text, &[], "")
}

fn user_full(text: &str, args: &[(&str, &str)], image: &Image) -> (String, Vec<Diagnostic>) {
    let file = Dockerfile::parse(text).unwrap();
    let inputs = inputs(args, "").with_platforms("linux/amd64", "linux/arm64/v8");
    let resolved = file.resolve(&inputs).unwrap();
    file.user(&inputs, &resolved, image).unwrap()
}

fn user(text: &str) -> String {
    user_full(text, &[], &Image::default()).0
}

#[test]
fn check_51_the_target_stage_or_the_last() {
    let text = "FROM a AS one\nFROM b AS Two\nFROM c";
    assert_eq!(base(text), "c");
    assert_eq!(base_with(text, &[], "one"), "a");
    assert_eq!(base_with(text, &[], "TWO"), "b");
    let file = Dockerfile::parse(text).unwrap();
    let error = file.resolve(&inputs(&[], "three")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the Dockerfile has no stage `three`; it has one, two, 2"
    );
}

#[test]
fn check_52_a_target_can_be_a_number() {
    assert_eq!(base_with("FROM a\nFROM b", &[], "0"), "a");
}

#[test]
fn checks_53_and_54_a_global_argument_and_its_override() {
    let text = "ARG V=1\nARG I=img:${V}\nFROM $I";
    assert_eq!(base(text), "img:1");
    assert_eq!(base_with(text, &[("V", "2")], ""), "img:2");
    assert_eq!(
        base_with("ARG I\nFROM ${I:-d}@sha256:x", &[], ""),
        "d@sha256:x"
    );
    let file = Dockerfile::parse("ARG I\nFROM $I").unwrap();
    assert!(matches!(
        file.resolve(&Inputs::default()),
        Err(Resolve::EmptyFrom { line: 2, .. })
    ));
    // ENV has no part in it.
    assert_eq!(base("FROM a AS x\nENV E=b\nFROM ${E:-c}"), "c");
}

#[test]
fn check_55_stages_on_stages_and_names_in_any_case() {
    let text = "FROM root AS A\nFROM a AS b\nARG N=b\nFROM B AS c\nFROM c";
    assert_eq!(base(text), "root");
    // A stage that comes later, or is itself, is an image.
    assert_eq!(base("FROM b AS b\nFROM x AS c"), "x");
    assert_eq!(base("FROM b AS b"), "b");
    assert_eq!(base("FROM scratch"), "(scratch)");
}

#[test]
fn check_56_defaults_and_alternatives() {
    let table = [
        ("${X:-y}", "y"),
        ("${X:+y}r", "r"),
        ("${S:-y}", "s"),
        ("${S:+y}", "y"),
        ("${E:-y}", "y"),
        ("${E-y}z", "z"),
        ("${E+y}", "y"),
        ("${X:-${S}}", "s"),
        ("${S:-\"a b\"}", "s"),
        ("${V#a.}", "b.c"),
        ("${V##*.}", "c"),
        ("${V%.*}", "a.b"),
        ("${V%%.*}", "a"),
        ("${V/./-}", "a-b.c"),
        ("${V//./-}", "a-b-c"),
    ];
    for (text, expected) in table {
        let file = format!("FROM x\nENV S=s E= V=a.b.c\nUSER {text}");
        assert_eq!(user(&file), expected, "{text}");
    }
    let file = Dockerfile::parse("FROM x\nUSER ${X:?not given}").unwrap();
    let resolved = file.resolve(&Inputs::default()).unwrap();
    let error = file.user(&Inputs::default(), &resolved, &Image::default());
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "line 2: `X` is required: not given");
}

#[test]
fn check_57_the_later_of_argument_and_environment_counts() {
    assert_eq!(user("FROM x\nENV U=user1\nARG U=user2\nUSER $U"), "user2");
    assert_eq!(user("FROM x\nARG U=user1\nENV U=user2\nUSER ${U}"), "user2");
    assert_eq!(user("FROM x\nENV U=user1\nARG U\nUSER $U"), "user1");
}

#[test]
fn check_58_environment_comes_from_the_stage_above_and_arguments_as_docker_says() {
    let text = "FROM x AS a\nENV E=env\nARG A=arg\nFROM a\n";
    assert_eq!(user(&format!("{text}USER $E")), "env");
    // The reference sees no argument of a stage above. Docker hands it down, and Docker builds the image.
    let (user, notes) = user_full(&format!("{text}USER $A"), &[], &Image::default());
    assert_eq!(user, "arg");
    assert!(
        notes[0]
            .message
            .contains("`A` is an argument of a stage above")
    );
}

#[test]
fn check_59_a_global_argument_that_the_stage_does_not_declare_is_empty_in_it() {
    let (user, notes) = user_full("ARG U=u\nFROM x\nUSER ${U:-none}", &[], &Image::default());
    assert_eq!(user, "none");
    assert!(
        notes[0].to_string().contains("add `ARG U` to the stage"),
        "{notes:?}"
    );
    let declared = user_full("ARG U=u\nFROM x\nARG U\nUSER $U", &[], &Image::default());
    assert_eq!(declared, ("u".to_owned(), vec![]));
}

#[test]
fn check_60_lines_of_a_heredoc_are_no_instructions() {
    let text = "FROM x\nUSER a\nRUN <<EOF cat\nFROM y\nUSER b\nEOF\nCOPY <<-'E1' <<\"E2\" /d/\n\tUSER c\n\tE1\nFROM z\nE2\n";
    assert_eq!(base(text), "x");
    assert_eq!(user(text), "a");
    let file = Dockerfile::parse(text).unwrap();
    assert_eq!(
        file.stages[0].instructions[1].heredocs,
        ["FROM y\nUSER b\n"]
    );
    assert_eq!(
        file.stages[0].instructions[2].heredocs,
        ["USER c\n", "FROM z\n"]
    );
    let error = Dockerfile::parse("FROM x\nRUN <<EOF\nUSER b").unwrap_err();
    assert_eq!(error.to_string(), "line 2: the heredoc EOF is not ended");
    // A shift is no heredoc, and neither is a string.
    assert_eq!(
        user("FROM x\nRUN echo $((1<<2)) '<<EOF' a<<<b\nUSER q"),
        "q"
    );
}

#[test]
fn check_61_the_escape_directive() {
    let text = "# escape=`\nFROM x\nENV A=c:\\ `\n  B=b\nUSER $B\\z";
    assert_eq!(user(text), "b\\z");
    // It is a comment after anything else.
    let text = "\n# escape=`\nFROM x\nUSER a\\\nb";
    assert_eq!(user(text), "ab");
    assert!(Dockerfile::parse("# escape=!\nFROM x").is_err());
}

#[test]
fn check_62_several_pairs_on_continued_lines() {
    let text = "FROM x\nENV A=a \\\n  # a comment\n\n  B=\"b c\" \\ \n  C=$A'$A'\nUSER $B-$C";
    assert_eq!(user(text), "b c-$A");
    // Pairs of one line see what was before the line.
    assert_eq!(user("FROM x\nENV A=1\nENV A=2 B=$A\nUSER $B"), "1");
    // The old form takes the rest of the line.
    assert_eq!(user("FROM x\nENV A b c\nUSER $A"), "b c");
    assert_eq!(user("FROM x\nARG A=1 B=2\nUSER $A$B"), "12");
}

#[test]
fn checks_63_and_64_quoted_users_and_groups() {
    assert_eq!(user("FROM x\nUSER \"dev\""), "dev");
    assert_eq!(user("FROM x\nUSER 'dev:staff'"), "dev:staff");
    assert_eq!(user("FROM x\nARG G=10\nUSER 1000:$G"), "1000:10");
    assert_eq!(user("FROM x\nUSER \\$x"), "$x");
}

#[test]
fn check_65_onbuild_is_for_others() {
    assert_eq!(user("FROM x\nUSER a\nONBUILD USER b"), "a");
}

#[test]
fn check_66_platform_arguments() {
    assert_eq!(
        base("FROM img:${TARGETARCH}-${TARGETVARIANT}-$BUILDOS"),
        "img:arm64-v8-linux"
    );
    let file = Dockerfile::parse("FROM --platform=$BUILDPLATFORM x").unwrap();
    let inputs = Inputs::default().with_platforms("linux/amd64", "linux/arm64");
    let platform = file.resolve(&inputs).unwrap().platform;
    assert_eq!(platform.as_deref(), Some("linux/amd64"));
    // In a stage they have to be declared.
    assert_eq!(user("FROM x\nUSER u$TARGETARCH"), "u");
    assert_eq!(user("FROM x\nARG TARGETARCH\nUSER u$TARGETARCH"), "uarm64");
}

#[test]
fn checks_67_and_68_small_letters_and_windows_lines() {
    let text = "arg I=b\r\nfrom $I as n\r\nenv U=a \\\r\n V=b\r\nuser $U$V\r\n";
    assert_eq!(base(text), "b");
    assert_eq!(user(text), "ab");
    assert_eq!(user("FROM\tx\nUSER\tu"), "u");
}

#[test]
fn the_user_is_the_nearest_in_the_chain_then_the_images_then_root() {
    let image = Image {
        user: Some("img".into()),
        env: BTreeMap::from([("H".to_owned(), "h".to_owned())]),
    };
    let of = |text: &str| user_full(text, &[], &image).0;
    assert_eq!(of("FROM x AS a\nUSER first\nFROM a"), "first");
    assert_eq!(of("FROM x"), "img");
    assert_eq!(of("FROM x\nUSER $H"), "h");
    assert_eq!(user("FROM x"), "root");
}

#[test]
fn values_that_grow_without_end_are_refused() {
    let text = format!(
        "FROM x\nENV A=0123456789\n{}USER $A",
        "ENV A=$A$A\n".repeat(60)
    );
    let file = Dockerfile::parse(&text).unwrap();
    let resolved = file.resolve(&Inputs::default()).unwrap();
    let error = file.user(&Inputs::default(), &resolved, &Image::default());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("more than 65536 bytes")
    );
}

#[test]
fn directives_are_read_only_at_the_top() {
    let file =
        Dockerfile::parse("#syntax = docker/dockerfile:1.7\n# check=skip=all\nFROM x\n# syntax=no");
    let directives = file.unwrap().directives;
    assert_eq!(directives.syntax.as_deref(), Some("docker/dockerfile:1.7"));
    assert_eq!(directives.check.as_deref(), Some("skip=all"));
    let file = Dockerfile::parse("# a comment\n# syntax=no\nFROM x").unwrap();
    assert_eq!(file.directives.syntax, None);
}

#[test]
fn what_is_no_dockerfile_is_refused_with_its_line() {
    let table = [
        ("", "the Dockerfile has no FROM"),
        (
            "RUN x\nFROM y",
            "line 1: RUN before the first FROM; only ARG may stand there",
        ),
        (
            "FROM a b",
            "line 1: write FROM image, or FROM image AS name",
        ),
        (
            "FROM a\nFORM b",
            "line 2: unknown instruction FORM; did you mean FROM?",
        ),
        (
            "FROM a AS 1x",
            "line 1: `1x` cannot be the name of a stage: use letters, digits, `-`, `_`, `.`",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(Dockerfile::parse(text).unwrap_err().to_string(), expected);
    }
}
