# SPDX-License-Identifier: BSD-3-Clause
# Completion for mpirun, mpiexec, patchbay-info, patchbay-ab and patchbay-plugin-test; bash-completion loads it under each
# of these names.

# The options are what the program itself explains under --help, so that this file needs no list of its own.
_patchbay_options() {
    "$1" --help 2>/dev/null | grep -oE -e '(^|[ ,|[])--?[a-zA-Z][a-zA-Z-]*' | grep -oE -e '--?[a-zA-Z][a-zA-Z-]*' | sort -u
}

# _patchbay_program WORD: the path of the program that is typed like this, perhaps with ~ and backslashes; nothing: none.
_patchbay_program() {
    local typed=${1/#\~\//$HOME/}
    command -v -- "${typed//\\/}" | grep -m 1 /
}

# _patchbay_info PATH OPTION...: the output of the patchbay-info beside that program.
_patchbay_info() {
    "${1%/*}/patchbay-info" "${@:2}" 2>/dev/null
}

# _patchbay_choices NAME: the values of this parameter, if it has a list of them; its input is the JSON of patchbay-info.
_patchbay_choices() {
    awk -v name="\"$1\"," '$1 == "\"name\":" { found = $2 == name }
        found && $1 == "\"choices\":" { inside = 1; sub(/.*\[/, "") }
        inside { while (match($0, /"[^"]*"/)) { print substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH) } }
        inside && /\]/ { exit }'
}

# _patchbay_components FRAMEWORK: its components; its input is the JSON of patchbay-info.
_patchbay_components() {
    awk -v framework="\"$1\"," '$1 == "\"framework\":" { found = $2 == framework }
        found && $1 == "\"name\":" { gsub(/[",]/, "", $2); print $2 }'
}

# _patchbay_alternatives PROGRAM OPTION: the values that --help lists for it, as in `--bind-to core|none`.
_patchbay_alternatives() {
    "$1" --help 2>/dev/null | sed -nE "s/^.*$2 ([{a-z]+[|,][a-z|,]+).*/\1/p" | tr '|,{' ' '
}

# _patchbay_words WORD...: those that begin like the word under the cursor.
_patchbay_words() {
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "${COMP_WORDS[COMP_CWORD]}")
}

_patchbay() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program
    program=$(_patchbay_program "$1") || {
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
    }
    set -- "$program"
    [[ $previous != -[a-z][a-z]* ]] || previous=-$previous # options take one dash or two
    if ((COMP_CWORD > 2)) && [[ ${COMP_WORDS[COMP_CWORD - 2]} =~ ^--?g?mca$ ]]; then
        _patchbay_words "$(_patchbay_info "$1" --json --param all | _patchbay_choices "$previous")"
        return
    fi
    if [[ ${1##*/} == patchbay-info && ${COMP_WORDS[COMP_CWORD - 2]} == --param ]]; then
        _patchbay_words all "$(_patchbay_info "$1" --json --components | _patchbay_components "$previous")"
        return
    fi
    case ${1##*/}:$previous in
    *:--mca | *:--gmca) _patchbay_words "$(_patchbay_info "$1" --names)" ;;
    patchbay-ab:--a | patchbay-ab:--b)
        _patchbay_words "$(_patchbay_info "$1" --names | sed 's/$/=/')"
        compopt -o nospace 2>/dev/null
        ;;
    patchbay-info:--param)
        _patchbay_words all "$(_patchbay_info "$1" --json --param all | sed -n 's/^ *"group": "\(.*\)",$/\1/p' | sort -u)"
        ;;
    *:--bind-to | *:--map-by | *:--reference) _patchbay_words "$(_patchbay_alternatives "$1" "$previous")" ;;
    *)
        case $word in
        -*) _patchbay_words "$(_patchbay_options "$1")" ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        ;;
    esac
}

complete -o filenames -F _patchbay mpirun mpiexec patchbay-info patchbay-ab patchbay-plugin-test
