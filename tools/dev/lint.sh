#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What ./dev lint does: lint.sh [--quick | --all | --since COMMIT]
#   --quick   only what needs no compilation: layout, scripts, pages
#   --all     clang-tidy over all sources instead of the changed ones; this takes half an hour on 2 cores
#   --since   the sources that differ from that commit; the default is where this branch left main, or the last commit
set -uo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
which=changed
since=
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --all) which=${1#--} ;;
    --since)
        since=${2:?--since wants a commit}
        shift
        ;;
    *)
        echo "lint: unknown option '$1' (known: --quick, --all, --since COMMIT)" >&2
        exit 2
        ;;
    esac
    shift
done
failed=0

# check NAME COMMAND...: one line when it passes, its output when it does not.
check() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf 'ok    %s\n' "$name"
    else
        printf 'BAD   %s\n%s\n' "$name" "$output"
        failed=1
    fi
}

shell_scripts() {
    local file
    git ls-files -z | while IFS= read -r -d '' file; do
        case $file in
        *.sh | dev) printf '%s\0' "$file" ;;
        *.*) ;;
        *) ! head -n 1 -- "$file" 2>/dev/null | grep -qE '^#!.*\b(ba)?sh$' || printf '%s\0' "$file" ;;
        esac
    done
}

# Files that others source are read with these as well. 2154, 2034: variables of the file that sources or is sourced;
# 1090: a file whose name is an argument; 2164: cd under set -e.
check_shell() {
    shell_scripts | xargs -0 shellcheck --shell=bash --severity=warning --external-sources --source-path=SCRIPTDIR \
        --exclude=SC2154,SC2034,SC1090,SC2164
}

check_python() {
    git ls-files -z '*.py' | xargs -0 python3 -c '
import sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        compile(file.read(), name, "exec")'
}

# tests/install/docs_test.sh runs the examples of these pages, and of no others.
check_pages() {
    ! git grep -l '^```sh$' -- '*.md' ':!README.md' ':!CONTRIBUTING.md' ':!docs/*.md' ':!plugins/README.md'
}

check_editorconfig() {
    ! git grep -nIE '[[:blank:]]+$' -- ':!*.patch' && ! git grep -lI $'\r$'
}

# <fmt/format.h> takes seconds to compile. With <fmt/core.h> alone these are functions of the library, whose names g++,
# which Debian compiles it with, encodes in another way than clang.
check_fmt() {
    ! git grep -nE 'fmt/format\.h|fmt::(v?format_to|v?format_to_n|formatted_size)\(' -- '*.cpp' '*.h' \
        ':!core/base/format_into.cpp'
}

# `bazel test` does not look at tests/budget.json, and ./dev test only once everything has run (tests/README.md, The budget).
check_budget() {
    git ls-files -z 'tests/*BUILD' | xargs -0 grep -lE '^ *mpi_test\(' | python3 -c '
import json, pathlib, sys
budget = json.loads(pathlib.Path("tests/budget.json").read_text(encoding="utf-8"))["folders"]
folders = [str(pathlib.Path(line.strip()).parent) for line in sys.stdin]
wrong = [folder for folder in folders if budget.get(folder, {"launches": 0})["launches"] == 0]
for folder in wrong:
    print(f"{folder} has an mpi_test(), and tests/budget.json allows it no launch")
sys.exit(bool(wrong))'
}

changed_sources() {
    if [ -z "$since" ]; then
        since=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null)
        [ "$since" != "$(git rev-parse HEAD)" ] || since=HEAD~1
    fi
    git rev-parse --quiet --verify "$since^{commit}" >/dev/null || {
        echo "lint: '$since' is no commit: name one with --since" >&2
        return 1
    }
    git diff --name-only --diff-filter=d "$since" -- '*.cpp' '*.c'
}

# clang-tidy over what Bazel compiles of the sources on standard input.
check_tidy() {
    python3 -c '
import json, sys
compiled = {entry["file"] for entry in json.load(open("compile_commands.json"))}
print("\n".join(sorted(compiled.intersection(sys.stdin.read().split()))))' |
        xargs -r -P "$(nproc)" -n 4 clang-tidy -p . --quiet
}

check 'layout (clang-format)' ./dev format --check
check 'shell scripts (shellcheck)' check_shell
check 'Python scripts' check_python
check 'examples in pages' check_pages
check 'white space' check_editorconfig
check 'fmt by format_into()' check_fmt
check 'launches in tests/budget.json' check_budget
case $which in
changed | all)
    [ -s compile_commands.json ] || ./dev compile-commands || exit 1
    if [ $which = all ]; then
        sources=$(git ls-files '*.cpp' '*.c')
    else
        sources=$(changed_sources) || exit 2
    fi
    check "clang-tidy ($(wc -w <<<"$sources") sources)" check_tidy <<<"$sources"
    ;;
esac
exit $failed
