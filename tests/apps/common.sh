# SPDX-License-Identifier: BSD-3-Clause
# What the application tests share: fetching Debian's source packages and printing the results. Sourced, not run.

say() { printf '%s\n' "$*"; }

# skip NAME REASON: ends the test; it is then counted as skipped, by name.
skip() {
    say "SKIPPED: $1: $2"
    exit 0
}

# full_size FIFTH: whether `./dev test` runs with --full, or with that fifth of all cases.
full_size() {
    [ "${PATCHBAY_TEST_SET:-default}" = full ] || [ "${PATCHBAY_TEST_FIFTH:-}" = "$1" ]
}

# fetch PACKAGE FOLDER: the upstream archive of a Debian source package, unpacked into FOLDER/PACKAGE. Uses the
# machine's own package sources with `deb-src` switched on in a private configuration; the machine's stays as it is.
# PATCHBAY_SOURCES may name a folder that holds archives already. Returns 1, with the cause in `fetch_problem`, when
# apt-get does not provide the package; an archive that cannot be unpacked ends the script with status 1.
fetch() {
    local package=$1 folder=$2 archives=$2/archives archive
    mkdir -p "$archives" "$folder/$package"
    if [ -n "${PATCHBAY_SOURCES:-}" ]; then
        cp "$PATCHBAY_SOURCES/$package"_*.orig.tar.* "$archives" 2>/dev/null || true
    fi
    if ! compgen -G "$archives/${package}_*.orig.tar.*" >/dev/null; then
        if ! download "$package" "$archives" >"$folder/fetch.log" 2>&1; then
            fetch_problem=$(sed -n 's/^E: //p' "$folder/fetch.log" | tail -1)
            fetch_problem="apt-get source $package: ${fetch_problem:-$(tail -1 "$folder/fetch.log")}"
            return 1
        fi
    fi
    archive=$(compgen -G "$archives/${package}_*.orig.tar.*" | grep -v '\.asc$' | head -1)
    # Without --no-same-owner tar, as root, gives the files the owners of the archive, which a sandbox does not have.
    if ! tar -xf "$archive" -C "$folder/$package" --strip-components=1 --no-same-owner; then
        say "FAILED: $(basename "$archive") cannot be unpacked"
        exit 1
    fi
}

# Makes deb-src lines of the machine's deb lines (both file formats), and lets apt use only those.
download() {
    local package=$1 archives=$2 apt=$2/apt
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
    sed -n 's/^deb \(.*\)/deb-src \1/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null \
        >"$apt/sources.list" || true
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -e "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/$(basename "$file")"
    done
    local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o "Dir::Etc::sourceparts=$apt/parts"
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
        -o Acquire::Retries=2 -o Acquire::http::Timeout=20)
    # If one of several sources cannot be reached, the others may have the package: the second command shows it.
    timeout 300 apt-get "${options[@]}" update || true
    (cd "$archives" && timeout 300 apt-get "${options[@]}" source --tar-only "$package")
}
