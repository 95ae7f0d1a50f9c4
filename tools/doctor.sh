#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks this machine and prints what each result means for Patchbay MPI. Exit status 1 if something is wrong.
set -u
root=$(cd -P -- "$(dirname -- "$0")/.." && pwd)
wrong=0

report() {
    local verdict=$1 what=$2 meaning=$3
    printf '%-5s %-26s %s\n' "$verdict" "$what" "$meaning"
    if [ "$verdict" = BAD ]; then
        wrong=1
    fi
}

check_packages() {
    local line group='' state missing=''
    while read -r line; do
        line=${line%%#*}
        line=${line%"${line##*[![:space:]]}"}
        case $line in
        '') continue ;;
        '['*']') group=${line:1:-1} ;;
        *)
            state=$(dpkg-query -W -f '${db:Status-Status}' "$line" 2>/dev/null || true)
            if [ "$state" != installed ]; then
                missing+=" $line ($group)"
            fi
            ;;
        esac
    done <"$root/tools/packages.txt"
    case $missing in
    '') report ok packages 'all of tools/packages.txt are installed' ;;
    *'(build)'*) report BAD packages "missing:$missing; ./dev installs them when it may" ;;
    *) report note packages "missing:$missing; the build needs none of these" ;;
    esac
}

check_compiler() {
    local version
    if ! version=$(g++ -dumpfullversion 2>/dev/null); then
        report BAD compiler 'there is no g++'
    elif [ "${version%%.*}" -lt 12 ]; then
        report BAD "g++ $version" 'C++20 as we use it needs g++ 12'
    else
        report ok "g++ $version" 'builds Patchbay MPI'
    fi
}

check_pmix() {
    local version
    if ! version=$(pkg-config --modversion pmix 2>/dev/null); then
        report BAD OpenPMIx 'pkg-config does not find pmix: mpirun and the library need it (libpmix-dev)'
    else
        case $version in
        4.2.*) report ok "OpenPMIx $version" 'the version everything was tried with' ;;
        *) report note "OpenPMIx $version" 'we were tried with 4.2 only' ;;
        esac
    fi
}

check_shared_memory() {
    local size free
    if ! read -r size free < <(df -k --output=size,avail /dev/shm 2>/dev/null | tail -n 1); then
        report BAD /dev/shm 'is not mounted: ranks of one node have no shared memory'
    elif [ "$free" -lt 65536 ]; then
        report BAD "/dev/shm $((free / 1024)) MiB free" \
            "of $((size / 1024)) MiB: too little for more than a few ranks; mount -o remount,size=1g /dev/shm"
    else
        report ok "/dev/shm $((free / 1024)) MiB free" "of $((size / 1024)) MiB: messages between ranks of this node"
    fi
}

# Asks the kernel itself: reads a variable of a sibling process, as a receiver does with a large message.
check_single_copy() {
    local scope answer
    scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
    answer=$(python3 "$root/tools/probe_cma.py" 2>&1)
    if [ $? -eq 0 ]; then
        report ok 'single copy (CMA)' "large messages are read straight from the sender (ptrace_scope $scope)"
    else
        report note 'single copy (CMA)' "the kernel refuses ($answer, ptrace_scope $scope): large messages are copied twice"
    fi
}

check_membarrier() {
    if python3 "$root/tools/probe_membarrier.py"; then
        report ok membarrier 'sleeping ranks cost their senders no fence'
    else
        report BAD membarrier 'no MEMBARRIER_CMD_GLOBAL_EXPEDITED: Linux 4.16 or newer without a filter on it is needed'
    fi
}

check_cores() {
    local cores
    cores=$(nproc)
    if [ "$cores" -lt 2 ]; then
        report note "$cores core" 'two ranks share it: correct, but latencies measure the scheduler'
    else
        report ok "$cores cores" "up to $cores ranks run without sharing; more take turns"
    fi
}

check_address_layout() {
    local bits
    bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
    if [ "$bits" -gt 28 ]; then
        report note "mmap_rnd_bits $bits" 'g++ 12 programs with --config=tsan may fail to start: sysctl vm.mmap_rnd_bits=28'
    fi
}

check_packages
check_compiler
check_pmix
check_cores
check_shared_memory
check_single_copy
check_membarrier
check_address_layout
exit $wrong
