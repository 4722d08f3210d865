# shellcheck shell=bash
# Lays out the files of a package and packs them, the same bytes from the same input. Sourced by scripts/release, which
# sets `root`, `tmp`, `to`, `version` and SOURCE_DATE_EPOCH; shellcheck cannot see that here.
# shellcheck disable=SC2154

# Puts every file where Debian has it, below the folder given.
stage() {
    local at=$1 shell
    local doc=$at/usr/share/doc/bursar units=$at/lib/systemd/system
    install -D -m 0755 -- "$to/bursar" "$at/usr/bin/bursar"
    install -D -m 0755 -- "$root/packaging/debian/bursar-admin" "$at/usr/sbin/bursar-admin"
    install -D -m 0755 -- "$root/packaging/debian/backup" "$at/usr/libexec/bursar/backup"
    install -D -m 0600 -- "$root/packaging/systemd/bursar.env" "$at/etc/bursar/bursar.env"
    install -D -m 0644 -- "$root/packaging/systemd/bursar.sysusers" "$at/usr/lib/sysusers.d/bursar.conf"
    install -d -- "$units"
    install -m 0644 -- "$root"/packaging/systemd/*.{service,timer} "$units/"

    "$to/bursar" man --to "$at/usr/share/man/man1" >/dev/null
    install -D -m 0644 -- "$root/packaging/debian/bursar-admin.8" "$at/usr/share/man/man8/bursar-admin.8"
    for shell in bash=bash-completion/completions/bursar zsh=zsh/vendor-completions/_bursar \
        fish=fish/vendor_completions.d/bursar.fish; do
        mkdir -p -- "$(dirname -- "$at/usr/share/${shell#*=}")"
        "$to/bursar" completions "${shell%%=*}" >"$at/usr/share/${shell#*=}"
    done

    install -d -- "$doc/examples"
    cp -r -- "$root"/packaging/{caddy,nginx,haproxy,prometheus,grafana,compose,kubernetes,litestream,cluster} "$doc/examples/"
    cp -r -- "$root"/docs/{*.md,reference,images} "$doc/"
    # Only README.md shows it.
    rm -f -- "$doc/images/docs.png"
    # Links follow the files to their places here. A link to what only the sources have becomes its text.
    sed -i -z -E -e 's#\]\(\.\./packaging/#](examples/#g' -e 's#\]\(\.\./CHANGELOG\.md\)#](NEWS.md.gz)#g' \
        -e 's#!?\[([^]]*)\]\((\.\.|decisions)/[^)]*\)#\1#g' -- "$doc"/*.md
    install -m 0644 -- "$root/CHANGELOG.md" "$doc/NEWS.md"
    install -m 0644 -- "$to/bursar-$version.cdx.json" "$doc/bursar.cdx.json"
    install -m 0644 -- "$tmp/third-party-licenses.txt" "$doc/third-party-licenses.txt"
    sed -e "/@MIT@/{
        r /dev/stdin
        d
    }" "$root/packaging/debian/copyright.in" \
        < <(sed -e '1,2d' -e 's/^$/./' -e 's/^/ /' "$root/LICENSE-MIT") >"$doc/copyright"
    {
        printf 'bursar (%s) unstable; urgency=medium\n\n  * NEWS.md.gz says what is new.\n\n' "$version"
        printf ' -- bursar maintainers <maintainers@example.org>  %s\n' "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
    } >"$doc/changelog"
    gzip -9 -n -- "$at"/usr/share/man/man[18]/* "$doc"/{changelog,NEWS.md,bursar.cdx.json,third-party-licenses.txt}
    chmod -R u+rwX,go+rX,go-w -- "$at/usr"
}

make_deb() {
    local at=$1 package=$2 control=$1/DEBIAN script size
    install -d -- "$control"
    size=$(du -sk --apparent-size --exclude=DEBIAN -- "$at" | cut -f 1)
    sed -e "s/@VERSION@/$version/" -e "s/@SIZE@/$size/" "$root/packaging/debian/control.in" >"$control/control"
    for script in preinst postinst prerm postrm; do
        install -m 0755 -- "$root/packaging/debian/$script" "$control/$script"
    done
    echo /etc/bursar/bursar.env >"$control/conffiles"
    install -D -m 0644 -- "$root/packaging/debian/lintian-overrides" "$at/usr/share/lintian/overrides/bursar"
    (cd -- "$at" && find . -path ./DEBIAN -prune -o -path ./etc -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
        >"$control/md5sums"
    find "$at" -exec touch -h -d "@$SOURCE_DATE_EPOCH" -- {} +
    # dpkg-deb sorts the names, and takes the time of the archive itself from SOURCE_DATE_EPOCH.
    dpkg-deb --root-owner-group -Zxz --build "$at" "$package" >/dev/null
    rm -r -- "$control"
}

# For distributions without .deb: the program and its files in one folder.
make_tarball() {
    local at=$1 file=$2 name
    name=$(basename -- "$file" -x86_64-linux-musl.tar.gz)
    mkdir -- "$tmp/$name"
    cp -a -- "$at/usr/bin/bursar" "$at/usr/share/man/man1" "$at/usr/share/doc/bursar"/* "$tmp/$name/"
    cp -a -- "$at/usr/share/bash-completion/completions/bursar" "$tmp/$name/bursar.bash"
    cp -a -- "$at/usr/share/zsh/vendor-completions/_bursar" "$at/usr/share/fish/vendor_completions.d/bursar.fish" "$tmp/$name/"
    cp -a -- "$at/usr/sbin/bursar-admin" "$at/usr/libexec/bursar/backup" "$tmp/$name/"
    cp -r -- "$root/packaging/systemd" "$tmp/$name/systemd"
    cp -- "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$tmp/$name/"
    rm -- "$tmp/$name/changelog.gz" "$tmp/$name/copyright"
    chmod -R u+rwX,go+rX,go-w -- "$tmp/$name"
    tar --create --directory "$tmp" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" -- "$name" | gzip -9 -n >"$file"
}
