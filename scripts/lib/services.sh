# shellcheck shell=bash
# A private PostgreSQL and a private Redis on free ports, with their data in the temporary folder. Sourced:
# `tmp` is set there, so shellcheck cannot see it here.
# shellcheck disable=SC2154

start_services() {
    choose_owner
    install -d -m 700 -o "$owner" -- "$tmp/postgres"

    (as_owner "$bin/initdb" -D "$tmp/postgres/data" --locale=C --encoding=UTF8 -A trust -U bursar) \
        >"$tmp/initdb.log" 2>&1 || die_with_log "$tmp/initdb.log" "cannot create a PostgreSQL database"

    local port
    # QUIT is PostgreSQL's immediate shutdown: no checkpoint of data that is thrown away.
    start postgres QUIT
    export BURSAR_TEST_POSTGRES=postgres://bursar@127.0.0.1:$port/postgres
    start_redis
}

start_redis() {
    local port
    install -d -m 700 -o "$owner" -- "$tmp/redis"
    start redis TERM
    export BURSAR_TEST_REDIS=redis://127.0.0.1:$port/
}

# Sets `bin` to PostgreSQL's programs, and `owner` and `become` to the user that runs them: it refuses to run as root.
choose_owner() {
    bin=$(postgres_bin)
    owner=$(id -u)
    become=()
    if [[ $owner -eq 0 ]]; then
        local user=postgres
        id "$user" >/dev/null 2>&1 || user=nobody
        owner=$(id -u "$user")
        become=(--reuid "$owner" --regid "$(id -g "$user")" --clear-groups)
        chmod 711 -- "$tmp"
    fi
}

# Becomes a command of the unprivileged user, in a folder that this user can enter. Should this script be killed
# without a chance to clean up, the kernel interrupts the command.
as_owner() {
    exec env -C / LC_ALL=C setpriv "${become[@]}" --pdeathsig INT -- "$@"
}

# Starts a service that a signal will stop, sets `port`, and returns when it answers. The bind itself finds out whether a port is free:
# to ask first and bind later is a race between two runs.
start() {
    local service=$1 signal=$2 log=$tmp/$1.log pid attempt
    for ((attempt = 0; attempt < 20; attempt++)); do
        # Below the range from which the kernel takes ports for outgoing connections.
        port=$((20000 + RANDOM % 12000))
        set -m
        "run_$service" >"$log" 2>&1 </dev/null &
        pid=$!
        stop_at_exit "$pid" "$signal"
        set +m
        wait_for_answer && return
        if kill -s 0 "$pid" 2>/dev/null; then
            die_with_log "$log" "$service did not answer within 60 seconds"
        fi
        forget "$pid"
        grep -q 'Address already in use' "$log" || die_with_log "$log" "$service did not start"
    done
    die_with_log "$log" "found no free port for $service"
}

# Asks over the service's own socket, so that another process on the same port is never taken for it.
wait_for_answer() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        kill -s 0 "$pid" 2>/dev/null || return 1
        if "${service}_answers"; then return 0; fi
        sleep 0.1
    done
    return 1
}

run_postgres() {
    # fsync is PostgreSQL's default; it is stated because tests of durability rest on it.
    as_owner "$bin/postgres" -D "$tmp/postgres/data" -p "$port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories="$tmp/postgres" -c fsync=on -c max_connections=300
}

postgres_answers() {
    "$bin/pg_isready" -q -h "$tmp/postgres" -p "$port" -U bursar -d postgres
}

run_redis() {
    as_owner redis-server --bind 127.0.0.1 --port "$port" --unixsocket "$tmp/redis/socket" \
        --dir "$tmp/redis" --save '' --appendonly no --daemonize no
}

redis_answers() {
    [[ $(redis-cli -s "$tmp/redis/socket" ping 2>/dev/null) = PONG ]]
}
