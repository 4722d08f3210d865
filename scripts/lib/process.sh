# shellcheck shell=bash
# Messages, and processes that end when scripts/test does. Sourced: `tmp` is set there.

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Prints a log on the way to failing.
die_with_log() {
    cat -- "$1" >&2
    die "$2"
}

job=                   # the process group of the command that is waited for
declare -A services=() # process number → the signal that stops it

stop_at_exit() {
    services[$1]=$2
}

forget() {
    unset "services[$1]"
}

# Runs a command in a process group of its own: an interrupt then ends it with all its children. It is waited
# for with `wait`, because bash lets a trap run at once there, but not while a foreground command goes on.
run_job() {
    local status=0
    set -m
    "$@" &
    job=$!
    set +m
    wait "$job" || status=$?
    job=
    return "$status"
}

# Signals a process, or a group when the number is negative, and kills what is still there after 10 seconds.
stop() {
    local signal=$1 target=$2 i
    kill -s "$signal" -- "$target" 2>/dev/null || return 0
    for ((i = 0; i < 200; i++)); do
        kill -s 0 -- "$target" 2>/dev/null || return 0
        sleep 0.05
    done
    kill -s KILL -- "$target" 2>/dev/null || true
}

# On any exit: stops what was started here, by its number, and removes the temporary folder.
clean_up() {
    local pid
    trap '' HUP INT PIPE TERM
    # Bash reports jobs that ended by a signal, which is what is meant to happen here.
    exec 2>/dev/null
    [[ -z $job ]] || stop TERM "-$job"
    for pid in "${!services[@]}"; do
        stop "${services[$pid]}" "$pid"
    done
    restore_system
    [[ -z $tmp ]] || rm -rf -- "$tmp"
}
