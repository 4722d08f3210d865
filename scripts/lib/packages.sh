# shellcheck shell=bash
# Finds what the checks need, and installs what is missing from the system's packages. Sourced:
# `tmp` and `root` are set there, so shellcheck cannot see them here.
# shellcheck disable=SC2154

# The folder of the newest PostgreSQL server; Debian keeps it off the PATH. Nothing when there is none.
postgres_bin() {
    local initdb
    initdb=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
    [[ -x $initdb ]] || initdb=$(command -v initdb) || return 0
    dirname -- "$(readlink -f -- "$initdb")"
}

has_postgres() {
    local bin
    bin=$(postgres_bin)
    [[ -n $bin && -x $bin/postgres && -x $bin/pg_isready ]]
}

has_redis() {
    command -v redis-server >/dev/null && command -v redis-cli >/dev/null
}

# A compiler without the C library's files is as good as none, so this builds a program.
has_cc() {
    printf '#include <stdio.h>\nint main(void) { return 0; }\n' |
        cc -x c -o "$tmp/cc-works" - >/dev/null 2>&1
}

# The tests move the clock of a server with it.
has_faketime() {
    compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null
}

# Debian's python3 comes without what `python3 -m venv` needs.
has_python() {
    python3 -c 'import ensurepip, venv' >/dev/null 2>&1
}

# Sets `missing` to the packages that would provide the needs that are not there.
find_missing() {
    local need
    missing=()
    for need in "$@"; do
        case $need in
            postgres) has_postgres || missing+=(postgresql) ;;
            redis) has_redis || missing+=(redis-server) ;;
            cc) has_cc || missing+=(gcc libc6-dev) ;;
            faketime) has_faketime || missing+=(faketime) ;;
            # They read the journal that the year's story exports.
            hledger | ledger) command -v "$need" >/dev/null || missing+=("$need") ;;
            beancount) command -v bean-check >/dev/null && command -v bean-query >/dev/null || missing+=(beancount) ;;
            curl) command -v curl >/dev/null || missing+=(curl) ;;
            pgbouncer) command -v pgbouncer >/dev/null || [[ -x /usr/sbin/pgbouncer ]] || missing+=(pgbouncer) ;;
            python) has_python || missing+=(python3 python3-venv) ;;
            musl) command -v musl-gcc >/dev/null || missing+=(musl-tools) ;;
            mmdebstrap | lintian | shellcheck) command -v "$need" >/dev/null || missing+=("$need") ;;
            nspawn) command -v systemd-nspawn >/dev/null || missing+=(systemd-container) ;;
            prometheus) command -v promtool >/dev/null || missing+=(prometheus) ;;
            systemd) command -v systemd-analyze >/dev/null || missing+=(systemd) ;;
            openssl) command -v openssl >/dev/null || missing+=(openssl) ;;
            caddy) command -v caddy >/dev/null || missing+=(caddy) ;;
            git) command -v git >/dev/null || missing+=(git) ;;
            nginx) [[ -x /usr/sbin/nginx ]] || missing+=(nginx) ;;
            etcd) command -v etcd >/dev/null || missing+=(etcd-server) ;;
            haproxy) command -v haproxy >/dev/null || missing+=(haproxy) ;;
            chromium) command -v chromium >/dev/null || missing+=(chromium) ;;
            # The demonstration has Chinese names.
            fonts) [[ -n $(fc-list :lang=zh 2>/dev/null) ]] || missing+=(fontconfig fonts-noto-cjk) ;;
            rust) ;;
        esac
    done
}

provide() {
    local missing
    find_missing "$@"
    if [[ ${#missing[@]} -gt 0 ]]; then
        if [[ $(id -u) -ne 0 ]]; then
            die "missing packages: ${missing[*]} (install them, or run this as root)"
        elif ! command -v apt-get >/dev/null; then
            die "missing packages: ${missing[*]} (named as in Debian; there is no apt-get here to install them)"
        fi
        install_missing "$@"
        find_missing "$@"
        [[ ${#missing[@]} -eq 0 ]] || die "installed, but still not usable: ${missing[*]}"
    fi
    [[ " $* " != *" rust "* ]] || provide_rust
}

provide_rust() {
    # rustup puts cargo on the PATH of login shells only.
    command -v cargo >/dev/null || PATH=${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH
    command -v cargo >/dev/null || die "no cargo found: install Rust first (https://rustup.rs)"
    if ! (cd -- "$root" && cargo fmt --version && cargo clippy --version) >/dev/null 2>&1; then
        say "==> adding rustfmt and clippy to the Rust toolchain"
        (cd -- "$root" && rustup component add rustfmt clippy) ||
            die "cargo fmt or cargo clippy is missing from the Rust toolchain"
    fi
}

no_start=/usr/sbin/policy-rc.d
no_cluster=/etc/postgresql-common/createcluster.d/bursar-test.conf
mark='# Temporary, by bursar scripts/test: an installation must not start services.'
installing=no

# Installs with one run at a time, for two would undo each other's changes to the system.
install_missing() {
    exec 9>/run/lock/bursar-test-install
    run_job flock 9
    find_missing "$@" # Another run may have installed it while this one waited.
    if [[ ${#missing[@]} -gt 0 ]]; then
        say "==> installing ${missing[*]}"
        installing=yes
        apt_install >"$tmp/install.log" 2>&1 9>&- </dev/null ||
            die_with_log "$tmp/install.log" "cannot install ${missing[*]}"
        restore_system
    fi
    exec 9>&-
}

apt_install() {
    local package newest had_redis=yes names=()
    export DEBIAN_FRONTEND=noninteractive
    run_job apt-get update -q -o DPkg::Lock::Timeout=300 || return
    for package in "${missing[@]}"; do
        if [[ $package = postgresql ]]; then
            # The versioned package is the server itself; `postgresql` would follow later releases.
            newest=$(apt-cache search --names-only '^postgresql-[0-9]+$' | cut -d ' ' -f 1 | sort -V | tail -n 1)
            package=${newest:-$package}
        fi
        [[ $package != redis-server ]] || had_redis=no
        names+=("$package")
    done
    hold_services || return
    run_job apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "${names[@]}" || return
    # Not started now, and not at the next boot either.
    if [[ $had_redis = no ]] && command -v systemctl >/dev/null; then
        systemctl disable redis-server || true
    fi
}

# Debian starts a service when it is installed, and creates a PostgreSQL cluster. Both can be refused for as
# long as the installation takes. An administrator's own policy-rc.d stays, and decides.
hold_services() {
    if [[ ! -e $no_start ]]; then
        printf '#!/bin/sh\n%s\nexit 101\n' "$mark" >"$no_start" && chmod 755 "$no_start" || return
    fi
    mkdir -p -- "$(dirname -- "$no_cluster")" &&
        printf '%s\ncreate_main_cluster = false\n' "$mark" >"$no_cluster"
}

restore_system() {
    [[ $installing = yes ]] || return 0
    rm -f -- "$no_cluster"
    if grep -qsxF -- "$mark" "$no_start"; then
        rm -f -- "$no_start"
    fi
    installing=no
}
