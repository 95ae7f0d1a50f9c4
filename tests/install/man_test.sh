#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The installed manual pages are well-formed and name every option of --help: man_test.sh PREFIX
. "$(dirname "$0")/common.sh"
pages=$prefix/share/man/man1

# Every command in bin/ has a page.
for command in "$prefix"/bin/*; do
    page=$pages/${command##*/}.1
    [ -e "$page" ] || fail "${command##*/} has no manual page"
    expect '' "$(mandoc -Tlint -Wstyle "$page" 2>&1 || true)" "mandoc about ${page##*/}"
    MANROFFOPT=-ww man -l "$page" >"$work/page" 2>"$work/warnings" || fail "man cannot show ${page##*/}"
    expect '' "$(cat "$work/warnings")" "groff about ${page##*/}"
done

# help COMMAND: the text of its --help.
help() {
    case $1 in
    mpicc) "$prefix/bin/mpicc" -showme:help ;;
    *) "$prefix/bin/$1" --help ;;
    esac
}

# The options stand at the beginning of lines there, each spelling for itself.
options() {
    help "$1" | sed -nE 's/^  (-.*)$/\1/p' | sed 's/   .*//' | grep -oE -e '(^|[ [])--?[A-Za-z][A-Za-z_:-]*' |
        tr -d ' [' | sort -u
}
for command in mpirun mpicc patchbay-info patchbay-ab patchbay-plugin-test; do
    MANWIDTH=1000 man -l "$pages/$command.1" 2>/dev/null | col -bx | sed -n '/^OPTIONS/,/^EXIT/p' >"$work/$command.txt"
    count=0
    for option in $(options "$command"); do
        grep -qE -e "^ {7}(-.*, )?$option([=, ]|\$)" "$work/$command.txt" || fail "$command(1) does not explain $option"
        count=$((count + 1))
    done
    [ $count -ge 7 ] || fail "only $count options were found in the help of $command"
    ! grep -q '@' "$pages/$command.1" || fail "$command(1) has a placeholder left"
done
