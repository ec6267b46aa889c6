#!/bin/sh
# Installs the coder command from the deployment that this script came from, in the version that fits it.
#
#   curl -fsSL @ACCESS_URL@/install.sh | sh
#   curl -fsSL @ACCESS_URL@/install.sh | sh -s -- --prefix ~/.local
#
#   --prefix DIR   install DIR/bin/coder (default: /usr/local when it may be written, else ~/.local)
#   --dry-run      say what would be done
#   --help         this text
#
# The server puts its own address in place of the marks above and below when it hands the script out.
set -eu

ACCESS_URL="@ACCESS_URL@"
PREFIX=
DRY_RUN=

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

usage() {
    cat <<EOF
Installs the coder command from $ACCESS_URL.

  --prefix DIR   install DIR/bin/coder (default: /usr/local when it may be written, else ~/.local)
  --dry-run      say what would be done
  --help         this text
EOF
}

system() {
    case $(uname -s) in
    Linux) echo linux ;;
    Darwin) echo darwin ;;
    *) fail "there is no coder for $(uname -s): Linux and macOS are supported; on Windows download $ACCESS_URL/bin/coder-windows-amd64.exe" ;;
    esac
}

architecture() {
    case $(uname -m) in
    x86_64 | amd64) echo amd64 ;;
    aarch64 | arm64) echo arm64 ;;
    armv7* | armv8l) echo armv7 ;;
    *) fail "there is no coder for the processor $(uname -m): amd64, arm64 and armv7 are supported" ;;
    esac
}

# fetch URL FILE: with whatever this machine has.
fetch() {
    if have curl; then
        curl -fsSL --compressed -o "$2" "$1"
    elif have wget; then
        wget -q -O "$2" "$1"
    elif have busybox; then
        busybox wget -q -O "$2" "$1"
    else
        fail "neither curl nor wget is on this machine: install one of them and start again"
    fi
}

# May we write DIR, or make it?
may_write() {
    dir=$1
    while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
    [ -d "$dir" ] && [ -w "$dir" ]
}

choose_prefix() {
    if may_write /usr/local/bin; then
        echo /usr/local
    else
        echo "${HOME:?is not set: give --prefix}/.local"
    fi
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --prefix)
            [ $# -gt 1 ] || fail "--prefix needs a directory"
            PREFIX=$2
            shift
            ;;
        --prefix=*) PREFIX=${1#*=} ;;
        --dry-run) DRY_RUN=1 ;;
        -h | --help) usage && exit ;;
        *) fail "unknown option $1 (try --help)" ;;
        esac
        shift
    done
    case $ACCESS_URL in
    http://* | https://*) ;;
    *) fail "this copy does not know its deployment: download it from your server's /install.sh" ;;
    esac

    os=$(system)
    arch=$(architecture)
    [ -n "$PREFIX" ] || PREFIX=$(choose_prefix)
    target=$PREFIX/bin/coder
    url=${ACCESS_URL%/}/bin/coder-$os-$arch
    if [ -n "$DRY_RUN" ]; then
        echo "would download $url to $target"
        exit
    fi
    may_write "$PREFIX/bin" || fail "$PREFIX/bin may not be written: start again with sudo, or with --prefix ~/.local"
    mkdir -p "$PREFIX/bin"

    # Beside the target, so that the last step is a rename: a running coder is never half overwritten.
    new=$target.new.$$
    trap 'rm -f "$new"' EXIT
    trap 'exit 130' INT TERM
    echo "downloading $url"
    fetch "$url" "$new" || fail "$url could not be downloaded: check that the server is up and has a coder for $os-$arch"
    chmod 755 "$new"
    version=$("$new" --version 2>/dev/null | head -n 1) || version=
    case $version in
    *[Cc]oder*) ;;
    *) fail "what $url gave does not run on this machine" ;;
    esac
    mv -f "$new" "$target"

    echo "installed $version as $target"
    case :$PATH: in
    *:"$PREFIX/bin":*) found=coder ;;
    *)
        found=$target
        echo "$PREFIX/bin is not on your PATH; to add it: export PATH=\"$PREFIX/bin:\$PATH\""
        ;;
    esac
    echo "next: $found login $ACCESS_URL"
}

# In a function and called last, so that a download that breaks off runs nothing.
main "$@"
