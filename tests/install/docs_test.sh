#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every example of README.md, CONTRIBUTING.md and the installed pages can be pasted: docs_test.sh WHICH PREFIX DEV PAGE...
# WHICH is `debugging`, for the page that needs gdb and valgrind and is skipped without them, or `others`.
#
# All blocks that are marked as shell (```sh) run, page by page, in a new directory each. Three things differ from what a
# reader does: the installation stands elsewhere than in /tmp/patchbay, patchbay-ab measures one block, and of ./dev it
# is only checked that it has the command (tests/dev runs the commands).
which=$1
shift
. "$(dirname "$0")/common.sh"
dev=$(realpath "$2")
shift 2
declare -A pages
for page in "$prefix"/share/doc/patchbay/*.md "$prefix/share/patchbay/plugins/README.md" "$@"; do
    if [ $which = debugging ]; then
        [[ $page == */debugging.md ]] || continue
    else
        [[ $page != */debugging.md ]] || continue
    fi
    name=${page#"$prefix/share/"}
    ! grep -q '^```sh$' "$page" || pages[${name#./}]=$page # Bazel writes ./ before the names of the top folder
done
if [ $which = debugging ]; then
    [ ${#pages[@]} -eq 1 ] || fail 'debugging.md has no examples'
    for tool in gdb valgrind; do
        if ! command -v $tool >/dev/null; then
            echo "SKIPPED: docs: debugging.md: $tool is not installed (tools/packages.txt, group develop)"
            exit 0
        fi
    done
    if ! gdb -batch -ex run /bin/true 2>&1 | grep -q 'exited normally'; then
        echo 'SKIPPED: docs: debugging.md: the kernel lets no debugger trace a process'
        exit 0
    fi
else
    for page in README.md patchbay/plugins/README.md doc/patchbay/{comparing,errors,launching,parameters,sessions}.md; do
        [ -n "${pages[$page]-}" ] || fail "$page has no examples"
    done
    for library in mpich openmpi; do
        command -v mpirun.$library >/dev/null && command -v mpicc.$library >/dev/null ||
            fail "$library is not installed (tools/packages.txt, group test): the comparisons with it cannot run"
    done
fi

# One block each: that the example is right, not how fast anything is.
mv "$prefix/bin/patchbay-ab" "$work/patchbay_ab.py"
cat >"$prefix/bin/patchbay-ab" <<END
#!/bin/sh
PATCHBAY_PREFIX='$prefix' exec python3 '$work/patchbay_ab.py' --blocks 1 --warm-up 0 --cflags=-DBENCH_DIVISOR=50 "\$@"
END
chmod +x "$prefix/bin/patchbay-ab"
export PATH=$prefix/bin:$PATH

# What ./dev is in the examples: its commands are those that the real one lists.
cat >"$work/dev" <<END
#!/bin/bash
bash '$dev' help | grep -qE "^  \$1( |\$)" || { echo "./dev help does not list \$1" >&2; exit 1; }
for word in "\${@:2}"; do
    case \$word in
    --*) bash '$dev' help | grep -qe " \$word " || { echo "./dev help does not list \$word" >&2; exit 1; } ;;
    esac
done
END
chmod +x "$work/dev"

# Some examples run programs of the reader's own.
cat >"$work/program.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
mpicc -g "$work/program.c" -o "$work/program"

# paste PAGE: what a reader would paste from it into one shell; `out` has what it prints.
paste_page() {
    local folder
    folder=$(mktemp -d "$work/pasted.XXXXXX")
    cp "$work/program.c" "$work/dev" "$folder"
    local name
    for name in program master worker; do
        cp "$work/program" "$folder/$name"
    done
    awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1" |
        sed "s|/tmp/patchbay|$prefix|g" >"$folder/examples.sh"
    out=$folder/out
    (cd "$folder" && bash -euo pipefail examples.sh) >"$out" 2>&1 || fail "the examples of $1: $(cat "$out")"
}

# says PATTERN: the page that was pasted last printed that.
says() {
    grep -qE -- "$1" "$out" || fail "no line '$1' was printed by the examples of $page: $(cat "$out")"
}
for page in "${!pages[@]}"; do
    SECONDS=0
    paste_page "${pages[$page]}"
    printf "%s: %s s\n" "$page" $SECONDS
    case $page in
    */sessions.md)
        # Four ranks once with the launcher's sets, once with sets by parameter, and once with none.
        for rank in '0: the ranks of ocean add up to 1' '1: the ranks of ocean add up to 1' \
            '2: the ranks of atmosphere add up to 5' '3: the ranks of atmosphere add up to 5'; do
            expect 2 "$(grep -c "^rank $rank\$" "$out")" "rank $rank"
        done
        ;;
    */parameters.md) says 'btl_sm_eager_limit' ;;
    */errors.md) says '^pml ' ;;
    */debugging.md)
        says '^Thread .* hit Breakpoint 1, .*PMPI_Finalize '
        says '^#[0-9]+ .*PMPI_Recv '
        says '^#[0-9]+ .*PMPI_Finalize '
        says '^mpirun ended with status 143$'
        says '^mpirun ended with status 134$'
        case $(cat /proc/sys/kernel/core_pattern) in
        /* | '|'*) ;;
        *) says '^#[0-9]+ .* main \(argc=2' ;;
        esac
        ;;
    */comparing.md) says '^half_round_trip_8B +mpich ' ;;
    */plugins/README.md) says '^coll .* nway +chosen' ;;
    README.md)
        says '^rank 3 of 4 has the token$'
        says '^coll .* mycoll +chosen'
        says '^half_round_trip_8B +mpich '
        ;;
    esac
done
printf 'pages whose examples ran: %s\n' "${!pages[*]}"
