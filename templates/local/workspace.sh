#!/bin/sh
# Starts and stops one workspace as processes of this machine.
#
#   sh workspace.sh start|stop|remove
#
# WORKSPACE_ID and WORKSPACE_DIR say which; `start` also takes INIT_SCRIPT and CODER_AGENT_TOKEN. Every command may be
# repeated, and may follow one that was killed half-way.
#
# A process belongs to the workspace when it carries the workspace's mark in its environment, is the agent, or descends
# from one of these. Process ids alone are never trusted: the system gives them away again.
set -eu
umask 077

: "${WORKSPACE_ID:?}" "${WORKSPACE_DIR:?}"
MARK=LOCAL_WORKSPACE_ID=$WORKSPACE_ID

pause() {
    sleep 0.1 2>/dev/null || sleep 1
}

# identity PID: what tells it from a later process with the same number; nothing when it is gone.
identity() {
    if [ -d /proc/self ]; then
        # Behind the name in parentheses: the state, and as 20th word the time of the start.
        sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'
    else
        ps -o lstart= -p "$1" 2>/dev/null | tr -d ' :'
    fi
}

# marked: ids of the agent and of the processes with our mark. A program may overwrite its own environment, so the agent
# is on record too. Where there is no /proc, the record is all there is.
marked() {
    if [ -f "$WORKSPACE_DIR/agent" ]; then alive <"$WORKSPACE_DIR/agent"; fi
    grep -lsF "$MARK" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
}

# family: "id identity" of each process that is marked or descends from one.
family() {
    roots=$(marked | tr '\n' ' ')
    [ -n "$roots" ] || return 0
    { ps -e -o pid= -o ppid= 2>/dev/null || true; } | awk -v roots="$roots" '
        BEGIN { n = split(roots, root, " "); for (i = 1; i <= n; i++) if (root[i]) in_it[root[i]] = 1 }
        { parent[$1] = $2 }
        END {
            do {
                grown = 0
                for (pid in parent) if (!(pid in in_it) && parent[pid] in in_it) { in_it[pid] = 1; grown = 1 }
            } while (grown)
            for (pid in in_it) print pid
        }' | while read -r pid; do
        started=$(identity "$pid")
        if [ -n "$started" ]; then echo "$pid $started"; fi
    done
}

# alive: reads lines of `family`, writes the ids of those that still live.
alive() {
    while read -r pid started; do
        if [ "$(identity "$pid")" = "$started" ]; then echo "$pid"; fi
    done
}

# patience TIMES LIST: waits until none of LIST lives; fails when that takes too long.
patience() {
    tries=0
    while [ -n "$(printf '%s\n' "$2" | alive)" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt "$1" ] || return 1
        pause
    done
}

# send SIGNAL IDS…: some may have ended meanwhile.
send() {
    signal=$1
    shift
    [ $# = 0 ] || kill "-$signal" "$@" 2>/dev/null || true
}

stop() {
    known=$(family)
    [ -n "$known" ] || return 0

    # The agent first, while its children still run: it ends sessions and runs the scripts for the end.
    agent=
    if [ -f "$WORKSPACE_DIR/agent" ]; then
        agent=$(printf '%s\n' "$known" | grep -Fx "$(cat "$WORKSPACE_DIR/agent")" || true)
    fi
    if [ -n "$agent" ]; then
        # shellcheck disable=SC2086
        send TERM ${agent%% *}
        patience 100 "$agent" || true
    fi

    # Then everything that it left, also what was born meanwhile.
    all=$(printf '%s\n' "$known" && family)
    # shellcheck disable=SC2046
    send TERM $(printf '%s\n' "$all" | alive)
    patience 20 "$all" || true
    tries=0
    while
        all=$(printf '%s\n' "$all" && family)
        left=$(printf '%s\n' "$all" | alive)
        [ -n "$left" ]
    do
        tries=$((tries + 1))
        if [ "$tries" -gt 50 ]; then
            echo "processes of the workspace do not end: $(echo "$left" | tr '\n' ' ')" >&2
            return 1
        fi
        # shellcheck disable=SC2086
        send KILL $left
        pause
    done
    rm -f "$WORKSPACE_DIR/agent"
}

# Runs the agent, and runs it anew when something has killed it. An agent that ends by itself has its reasons. A signal
# cuts `wait` short, so it is repeated while the agent lives.
# shellcheck disable=SC2016
KEEP_RUNNING='
stopping=
agent=
trap "stopping=1; [ -z \"\$agent\" ] || kill -TERM \$agent 2>/dev/null" TERM
while [ -z "$stopping" ]; do
    rm -rf "$1/bin"
    sh "$1/init.sh" "$1/bin" &
    agent=$!
    status=0
    wait "$agent" || status=$?
    while kill -0 "$agent" 2>/dev/null; do
        status=0
        wait "$agent" || status=$?
    done
    if [ -n "$stopping" ] || [ "$status" -le 128 ]; then exit "$status"; fi
    echo "the agent was killed (exit status $status); starting it again"
    sleep 1
done
'

start() {
    : "${INIT_SCRIPT:?}" "${CODER_AGENT_TOKEN:?}"
    stop
    mkdir -p "$WORKSPACE_DIR/home"
    # The program goes with the workspace. As a variable of the script it stays out of the workspace's environment.
    { echo 'BINARY_DIR=$1' && printf '%s' "$INIT_SCRIPT"; } >"$WORKSPACE_DIR/init.sh"
    printf '%s' "$KEEP_RUNNING" >"$WORKSPACE_DIR/run.sh"
    unset INIT_SCRIPT

    # The server's own variables are none of the workspace's business: some of them are secrets.
    for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
        case $name in
        PATH | USER | LOGNAME | SHELL | LANG | LC_* | TZ | SSL_CERT_* | CODER_AGENT_TOKEN) ;;
        HTTP_PROXY | HTTPS_PROXY | NO_PROXY | http_proxy | https_proxy | no_proxy) ;;
        WORKSPACE_DIR) ;;
        *) unset "$name" 2>/dev/null || true ;;
        esac
    done
    export LOCAL_WORKSPACE_ID="${MARK#*=}" HOME="$WORKSPACE_DIR/home"
    dir=$WORKSPACE_DIR
    unset WORKSPACE_DIR
    cd "$HOME"
    # A session of its own, so that nothing that happens to the server reaches it.
    own=
    if command -v setsid >/dev/null; then own=setsid; fi
    $own sh "$dir/run.sh" "$dir" >"$dir/agent.log" 2>&1 </dev/null &
    echo "$! $(identity $!)" >"$dir/agent"
}

remove() {
    case $WORKSPACE_DIR in
    /?*/?*) ;;
    *) echo "WORKSPACE_DIR is not the directory of a workspace: $WORKSPACE_DIR" >&2 && return 1 ;;
    esac
    stop
    [ -e "$WORKSPACE_DIR" ] || return 0
    # Tools leave directories that not even their owner may change.
    chmod -R u+rwX "$WORKSPACE_DIR" 2>/dev/null || true
    rm -rf "$WORKSPACE_DIR"
    # The owner's directory, when this was the last workspace in it.
    rmdir "$(dirname "$WORKSPACE_DIR")" 2>/dev/null || true
}

case ${1:-} in
start | stop | remove) "$1" ;;
*) echo "usage: sh workspace.sh start|stop|remove" >&2 && exit 2 ;;
esac
