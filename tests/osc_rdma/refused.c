/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel refuses copies between processes, in all ranks or in one of them. A window of the program's memory has no
 * component then but one that needs no such copies; a window whose memory is shared has. Argument: "all" or "one". */
#include "tests/mpi_check/check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int refuse_copies(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void use(MPI_Win win, int rank, int size) {
    const int value = 100 + rank;
    int got = -1;
    const int right = (rank + 1) % size;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_EQUAL(got, value);
}

int main(int argc, char** argv) {
    const int first = getenv("PMIX_RANK") != NULL && strcmp(getenv("PMIX_RANK"), "0") == 0;
    if ((argc > 1 && strcmp(argv[1], "all") == 0) || first) {
        if (!refuse_copies()) {
            printf("SKIPPED: refused: this kernel has no seccomp filters\n");
            return 0;
        }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win win;
    int* shared;
    CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win));
    use(win, rank, size);
    CHECK_OK(MPI_Win_free(&win));
    /* By this component alone there is no window, in no rank. */
    int memory = 0;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "patchbay_osc", "rdma");
    CHECK(MPI_Win_create(&memory, sizeof memory, sizeof memory, info, MPI_COMM_WORLD, &win) != MPI_SUCCESS);
    CHECK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win) != MPI_SUCCESS);
    MPI_Info_free(&info);
    return finish();
}
