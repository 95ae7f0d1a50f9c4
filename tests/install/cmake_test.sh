#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A CMake project outside our tree, with CMake's own FindMPI: cmake_test.sh PREFIX PROJECT_FILE...
. "$(dirname "$0")/common.sh"
shift
mkdir "$work/project"
for file; do
    cp -L "$file" "$work/project/"
done
export PATH=$prefix/bin:$PATH

cmake -S "$work/project" -B "$work/build" -DCMAKE_BUILD_TYPE=Release
found() {
    sed -n "s/^$1=//p" "$work/build/found.txt"
}
expect 5.0 "$(found version)" 'MPI version'
expect "$prefix/include" "$(found include)" 'include directory'
expect "$prefix/lib/libmpi_abi.so" "$(found libraries)" 'library'
# mpiexec and mpirun are one program; FindMPI takes the first it finds.
expect "$prefix/bin" "$(dirname "$(found mpiexec)")" 'directory of mpiexec'

cmake --build "$work/build" --parallel 2
run() {
    timeout 60 "$(found mpiexec)" "$(found flag)" 2 "$work/build/$1"
}
expect 'token 2 of 2' "$(run ring_c)" 'the C program'
expect 'sum 1 of 2' "$(run sum_cxx)" 'the C++ program'
