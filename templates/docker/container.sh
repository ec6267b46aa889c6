#!/bin/sh
# Starts and stops one workspace as a Docker container.
#
#   sh container.sh prepare|start|stop|remove
#
# WORKSPACE_ID and VOLUME say which; `prepare` and `start` take more. Every command may be repeated, and may follow one
# that was killed half-way: containers are found by their label, not by what somebody remembers.
set -eu

: "${WORKSPACE_ID:?}" "${VOLUME:?}"
LABEL=coder.workspace_id=$WORKSPACE_ID
HOME_IN_CONTAINER=/home/coder

fail() {
    echo "$*" >&2
    exit 1
}

need_docker() {
    command -v docker >/dev/null ||
        fail "docker is not on the server's machine: install Docker there, or use another template"
    docker version --format '{{.Server.Version}}' >/dev/null ||
        fail "the server's account ($(id -un)) cannot talk to Docker: start it, or add the account to the group docker"
}

containers() {
    docker ps --all --quiet --no-trunc --filter "label=$LABEL"
}

# Fetches the image where its progress can be seen, and gives a new home to the account that the image runs as.
prepare() {
    : "${IMAGE:?}"
    need_docker
    docker volume create --label "$LABEL" "$VOLUME" >/dev/null
    docker image inspect "$IMAGE" >/dev/null 2>&1 || docker pull "$IMAGE" ||
        fail "the image $IMAGE cannot be had: check its name, and that Docker may fetch it"
    user=$(docker image inspect --format '{{.Config.User}}' "$IMAGE")
    # Docker fills an empty volume with what the image has in its place; that must happen before the owner is set.
    docker run --rm --label "$LABEL" --network none --user 0 --volume "$VOLUME:$HOME_IN_CONTAINER" --entrypoint sh \
        "$IMAGE" -c '[ -z "$1" ] || chown "$1" "$2"' sh "$user" "$HOME_IN_CONTAINER" ||
        fail "the image $IMAGE does not run a shell: a workspace needs one"
}

# Does the agent's script call the server by a name that means "this machine"?
is_loopback() {
    case $INIT_SCRIPT in
    *//localhost[:/]* | *//127.0.0.1[:/]* | *"//[::1]"*) return 0 ;;
    *) return 1 ;;
    esac
}

# Docker in a virtual machine of its own (Docker Desktop and its like) makes the host reachable by name, even what
# listens on its loopback only. Docker right on this machine does not: there the container joins the host's network.
choose_network() {
    [ "${NETWORK:-auto}" = auto ] || return 0
    NETWORK=bridge
    if is_loopback && [ "$(docker info --format '{{.Name}}')" = "$(uname -n)" ]; then NETWORK=host; fi
}

start() {
    : "${IMAGE:?}" "${NAME:?}" "${HOST_NAME:?}" "${INIT_SCRIPT:?}" "${CODER_AGENT_TOKEN:?}"
    stop
    choose_network
    set -- --detach --name "$NAME" --hostname "$HOST_NAME" --label "$LABEL" --restart unless-stopped \
        --volume "$VOLUME:$HOME_IN_CONTAINER:nocopy" --workdir "$HOME_IN_CONTAINER" --env "HOME=$HOME_IN_CONTAINER"
    if [ "$NETWORK" = host ]; then
        set -- "$@" --network host
    else
        set -- "$@" --add-host host.docker.internal:host-gateway
        INIT_SCRIPT=$(printf '%s' "$INIT_SCRIPT" |
            sed -E 's#//(localhost|127\.0\.0\.1|\[::1\])([:/])#//host.docker.internal\2#g')
    fi
    [ "${CPUS:-0}" = 0 ] || set -- "$@" --cpus "$CPUS"
    [ "${MEMORY:-0}" = 0 ] || set -- "$@" --memory "${MEMORY}g"
    # The token goes through the environment of this command: its value stands on no command line.
    docker run "$@" --env CODER_AGENT_TOKEN --entrypoint sh "$IMAGE" -c "$INIT_SCRIPT" >/dev/null
}

stop() {
    need_docker
    tries=0
    while
        found=$(containers)
        [ -n "$found" ]
    do
        tries=$((tries + 1))
        [ "$tries" -le 20 ] || fail "containers of the workspace do not end: $found"
        # Another stop may be at work on the same containers; whoever is second has nothing to do.
        # shellcheck disable=SC2086
        docker stop --time 10 $found >/dev/null 2>&1 || true
        # shellcheck disable=SC2086
        docker rm --force $found >/dev/null 2>&1 || sleep 1
    done
}

remove() {
    stop
    docker volume rm --force "$VOLUME" >/dev/null
}

case ${1:-} in
prepare | start | stop | remove) "$1" ;;
*) echo "usage: sh container.sh prepare|start|stop|remove" >&2 && exit 2 ;;
esac
