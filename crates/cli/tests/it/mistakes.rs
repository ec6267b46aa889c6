//! Command lines that cannot be understood, and those that software is known to use.

use std::ffi::OsString;

fn parse(line: &str) -> Result<clap::ArgMatches, clap::Error> {
    coder_cli::command().try_get_matches_from(line.split(' ').map(OsString::from))
}

#[test]
fn an_unknown_word_suggests_the_nearest() {
    let error = parse("coder templats list").unwrap_err().to_string();
    assert!(error.contains("templates"), "{error}");
    let error = parse("coder ssh --stdo dev").unwrap_err().to_string();
    assert!(error.contains("--stdio"), "{error}");
}

#[test]
fn editors_and_scripts_call_commands_in_these_forms() {
    for line in [
        "coder version --output json",
        "coder --version",
        "coder login --use-token-as-session https://coder.example.com",
        "coder login token --url https://coder.example.com",
        "coder logout --url https://coder.example.com --yes",
        "coder --global-config /tmp/x --header-command true start --yes --reason vscode_connection ann/dev",
        "coder --url https://coder.example.com update ann/dev --parameter a=b",
        "coder --global-config /tmp/x ssh --disable-autostart --stdio --usage-app=vscode --network-info-dir /tmp/n --log-dir /tmp/l -v --ssh-host-prefix coder-vscode.h-- coder-vscode.h--ann--dev.main",
        "coder --global-config /tmp/x ssh --stdio --ssh-host-prefix coder. coder.dev",
        "coder ssh --stdio --disable-autostart=true --hostname-suffix coder dev.coder",
        "coder ssh dev -- ls -la --color=auto",
        "coder ssh dev ls -la",
        "coder ssh dev -t -- htop",
        "coder gitssh -- -o SendEnv=GIT_PROTOCOL git@example.com git-upload-pack",
        "coder templates push --activate=false -y -d .",
        "coder templates push --var a=b --variable c=d",
        "coder template version list docker",
        "coder templates edit docker --allow-user-autostart=false --require-active-version",
        "coder user ls -c username,email",
        "coder orgs show me --only-id",
        "coder schedule start dev 9:30am Mon-Fri Europe/Berlin",
        "coder logs dev -n -1",
        "coder create -t docker dev -y --rich-parameter-file p.yaml --start-at 9:30am",
        "coder stat disk --path / --prefix Mi",
        "coder config-ssh -y -o ForwardAgent=yes --wait=no",
        "coder port-forward dev -p 8080,9000:3000",
    ] {
        if let Err(error) = parse(line) {
            panic!("{line}: {error}");
        }
    }
}
