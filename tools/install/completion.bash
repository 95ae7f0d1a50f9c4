# SPDX-License-Identifier: BSD-3-Clause
# Completion for mpirun, mpiexec, patchbay-info and patchbay-ab; bash-completion loads it under each of these names.

# The options are what the program itself explains under --help, so that this file needs no list of its own.
_patchbay_options() {
    "$1" --help 2>/dev/null | grep -oE -e '(^|[ ,|[])--?[a-z][a-z-]*' | grep -oE -e '--?[a-z][a-z-]*' | sort -u
}

# Names of parameters and of frameworks, as the first word after --mca.
_patchbay_parameters() {
    local info
    info=$(dirname -- "$(command -v -- "$1")")/patchbay-info
    "$info" --json 2>/dev/null | grep -oE '"name": *"[a-z0-9_]+"' | cut -d'"' -f4 | sort -u
}

_patchbay() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    case $previous in
    --mca)
        mapfile -t COMPREPLY < <(compgen -W "$(_patchbay_parameters "$1")" -- "$word")
        return
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_patchbay_options "$1")" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}

complete -o filenames -F _patchbay mpirun mpiexec patchbay-info patchbay-ab
