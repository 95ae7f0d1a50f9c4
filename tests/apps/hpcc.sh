# SPDX-License-Identifier: BSD-3-Clause
# HPC Challenge: building it with an MPI's mpicc and running its small case. Sourced after common.sh.

# hpcc_build SOURCE MPICC: makes SOURCE/hpcc. Needs a BLAS with C or Fortran names (libblas-dev).
hpcc_build() {
    local source=$1 mpicc=$2
    # HPL calls two functions that MPI-3.0 removed; everything else stays as it came.
    sed -i 's/\bMPI_Address\b/MPI_Get_address/g; s/\bMPI_Type_struct\b/MPI_Type_create_struct/g' \
        "$source/hpl/src/comm/HPL_packL.c"
    cat >"$source/hpl/Make.patchbay" <<MAKE
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -sf
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
ARCH = patchbay
TOPdir = ../../..
INCdir = \$(TOPdir)/include
BINdir = \$(TOPdir)/bin/\$(ARCH)
LIBdir = \$(TOPdir)/lib/\$(ARCH)
HPLlib = \$(LIBdir)/libhpl.a
LAlib = -lblas
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_INCLUDES = -I\$(INCdir) -I\$(INCdir)/\$(ARCH)
HPL_LIBS = \$(HPLlib) \$(LAlib) -lm
HPL_OPTS =
HPL_DEFS = \$(F2CDEFS) \$(HPL_OPTS) \$(HPL_INCLUDES)
CC = $mpicc
CCNOOPT = \$(HPL_DEFS)
CCFLAGS = \$(HPL_DEFS) -O2 -w
LINKER = $mpicc
LINKFLAGS = -O2
ARCHIVER = ar
ARFLAGS = r
RANLIB = echo
MAKE
    make -C "$source" -j "$(nproc)" arch=patchbay >"$source/build.log" 2>&1 || make -C "$source" arch=patchbay \
        >"$source/build.log" 2>&1 || { tail -20 "$source/build.log" >&2; return 1; }
}

# hpcc_input SOURCE RANKS ORDER FOLDER: the input file of a problem of that order, into FOLDER.
hpcc_input() {
    local p=1
    [ "$2" -ge 4 ] && p=2
    mkdir -p "$4"
    sed -e "6s/^[0-9]*/$3/" -e "11s/^[0-9]*/$p/" -e "12s/^[0-9]*/$(($2 / p))/" "$1/_hpccinf.txt" >"$4/hpccinf.txt"
}

# hpcc_verdict FOLDER: the program's own: Success=1 and nothing that FAILED.
hpcc_verdict() {
    grep -q '^Success=1' "$1/hpccoutf.txt" && ! grep -q FAILED "$1/hpccoutf.txt"
}

# hpcc_value FOLDER KEY: a figure of its summary.
hpcc_value() { sed -n "s/^$2=//p" "$1/hpccoutf.txt"; }
