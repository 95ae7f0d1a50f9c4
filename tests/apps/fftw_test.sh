#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# FFTW's own check of its parallel transforms: fftw_test.sh COMMON PREFIX. By default FFTW's MPI part is built over the
# distribution's FFTW and makes a few checks with 2 ranks; in full size all of FFTW is built, and checks with 2 and 4.
set -euo pipefail
. "$1"
prefix=$(cd "$2" && pwd)
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/fftw.XXXXXX")
trap 'rm -rf "$work"' EXIT
command -v perl >/dev/null || skip fftw "perl is not installed"
fetch fftw3 "$work" || skip fftw "$fetch_problem"
cd "$work/fftw3"
# Glue for Fortran callers: it needs MPI_Fint, which the standard ABI does not have. No C program uses it.
: >mpi/f03-wrap.c

configure() {
    ./configure --enable-mpi --disable-fortran --disable-doc --disable-alloca CFLAGS=-O1 MPICC="$prefix/bin/mpicc" \
        MPIRUN="$prefix/bin/mpirun"
}

build_all() {
    configure || return
    local folder
    for folder in support genfft kernel simd-support dft rdft reodft api libbench2; do
        make -C "$folder" -j "$(nproc)" || return
    done
    make libfftw3.la && make -C threads && make -C tests bench && make -C mpi
}

build_mpi_part() {
    configure && make -C libbench2 -j "$(nproc)" || return
    rm mpi/testsched.c # a program of its own
    "$prefix/bin/mpicc" -O1 -w -DHAVE_CONFIG_H -I. -Ikernel -Idft -Irdft -Ireodft -Iapi -Impi -Ilibbench2 -Itests mpi/*.c \
        tests/fftw-bench.c tests/hook.c libbench2/libbench2.a -o mpi/mpi-bench "$library" -lm
}

if full_size 3; then
    sizes='2 4' checks=30 build=build_all
else
    library=$(gcc -print-file-name=libfftw3.so.3)
    [ -e "$library" ] || skip fftw "libfftw3-double3 is not installed"
    sizes=2 checks=4 build=build_mpi_part
fi
$build >build.log 2>&1 || { tail -20 build.log; exit 1; }
for ranks in $sizes; do
    (cd mpi && perl -w ../tests/check.pl -r -c=$checks -v --mpi "$prefix/bin/mpirun --timeout 120 -n $ranks $work/fftw3/mpi/mpi-bench") \
        >"check$ranks.log" 2>&1 || { tail -20 "check$ranks.log"; exit 1; }
    ! grep -qiE 'FAILED|error' "check$ranks.log" || { grep -iE 'FAILED|error' "check$ranks.log" | head; exit 1; }
    # One result (a problem and its three errors) for each that was requested; a log without any is no success.
    wanted=$(grep -o -- "--verify '" "check$ranks.log" | wc -l)
    results=$(grep -cE '^[^ ]+( [0-9.]+(e[-+][0-9]+)?){3}$' "check$ranks.log" || true)
    if [ "$wanted" -lt $checks ] || [ "$results" -ne "$wanted" ]; then
        say "FFTW with $ranks ranks: $results results of $wanted checks:"
        tail -20 "check$ranks.log"
        exit 1
    fi
    say "FFTW with $ranks ranks: $results checks, none failed"
done
