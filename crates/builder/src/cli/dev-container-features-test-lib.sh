#!/bin/sh
# For tests of Features: check LABEL COMMAND..., checkMultiple LABEL MINIMUM COMMAND..., reportResults.
# For any POSIX shell, as images have.

FAILED=

# One command that has to succeed.
check() {
    label=$1
    shift
    if "$@"; then noted 0 "$label"; else noted 1 "$label"; fi
}

# Some of several commands, each a line for the shell, have to succeed.
checkMultiple() {
    label=$1 minimum=$2 passed=0
    shift 2
    for line in "$@"; do
        if (eval "$line"); then passed=$((passed + 1)); fi
    done
    noted "$((passed < minimum))" "$label"
}

noted() {
    if [ "$1" -eq 0 ]; then
        printf 'passed: %s\n' "$2"
        return 0
    fi
    printf 'failed: %s\n' "$2" >&2
    FAILED="$FAILED '$2'"
    return 1
}

# The end of a test.
reportResults() {
    [ -z "$FAILED" ] || { printf 'failed checks:%s\n' "$FAILED" >&2; exit 1; }
    printf 'all checks passed\n'
    exit 0
}
