# SPDX-License-Identifier: BSD-3-Clause
# Completion for mpirun, mpiexec, patchbay-info, patchbay-ab and patchbay-plugin-test; bash-completion loads it under each
# of these names.

# The options are what the program itself explains under --help, so that this file needs no list of its own.
_patchbay_options() {
    "$1" --help 2>/dev/null | grep -oE -e '(^|[ ,|[])--?[a-z][a-z-]*' | grep -oE -e '--?[a-z][a-z-]*' | sort -u
}

# _patchbay_info PROGRAM OPTION...: the output of the patchbay-info beside that program.
_patchbay_info() {
    local info
    info=$(dirname -- "$(command -v -- "$1")")/patchbay-info
    "$info" "${@:2}" 2>/dev/null
}

# _patchbay_words WORD...: those that begin like the word under the cursor.
_patchbay_words() {
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "${COMP_WORDS[COMP_CWORD]}")
}

_patchbay() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    case ${1##*/}:$previous in
    *:--mca) _patchbay_words "$(_patchbay_info "$1" --names)" ;;
    patchbay-ab:--a | patchbay-ab:--b)
        _patchbay_words "$(_patchbay_info "$1" --names | sed 's/$/=/')"
        compopt -o nospace 2>/dev/null
        ;;
    patchbay-info:--param)
        _patchbay_words all "$(_patchbay_info "$1" --json --param all | sed -n 's/^ *"group": "\(.*\)",$/\1/p' | sort -u)"
        ;;
    *)
        case $word in
        -*) _patchbay_words "$(_patchbay_options "$1")" ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        ;;
    esac
}

complete -o filenames -F _patchbay mpirun mpiexec patchbay-info patchbay-ab patchbay-plugin-test
