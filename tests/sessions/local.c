/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Session_init and MPI_Session_finalize beside another session make no system call and do not communicate; the same
 * holds for a group of a process set that the library has in its cache. A seccomp filter turns every system call into a
 * signal, whose handler counts the call and executes it. In a job the last rank does this while no other rank calls
 * MPI, and afterwards the shared memory of the node is the same, byte for byte. */
#define _GNU_SOURCE
#include "tests/mpi_check/shared_ints.h"
#include "tests/sessions/session_check.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* The filter allows calls with this sixth argument, which the handler makes. */
#define PASS 0x70617373UL

static volatile int counting;
static volatile long calls, last_call;

static long system_call(long number, const greg_t* registers) {
    register long r10 __asm__("r10") = registers[REG_R10];
    register long r8 __asm__("r8") = registers[REG_R8];
    register long r9 __asm__("r9") = (long)PASS;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(registers[REG_RDI]), "S"(registers[REG_RSI]), "d"(registers[REG_RDX]), "r"(r10),
                     "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void on_call(int signal, siginfo_t* info, void* context) {
    greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
    (void)signal;
    if (counting) {
        ++calls;
        last_call = info->si_syscall;
    }
    registers[REG_RAX] = system_call(info->si_syscall, registers);
}

static int install(void) {
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        /* A session uses no call that needs its sixth argument or a stack of its own. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PASS, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return -1;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static void open_and_close(void) {
    MPI_Session session = open_session("MPI_THREAD_MULTIPLE");
    MPI_Group group = MPI_GROUP_NULL;
    int number = 0;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Group_size(group, &number) == MPI_SUCCESS && number > 0);
    MPI_Group_free(&group);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* An FNV hash and the number of bytes of the memory that the processes of this node share. */
struct digest {
    unsigned long long hash, bytes;
};

static struct digest digest_of_shared_memory(void) {
    struct digest digest = {14695981039346656037ULL, 0};
    static unsigned char block[4096];
    char line[512];
    FILE* maps = fopen("/proc/self/maps", "r");
    FILE* memory = fopen("/proc/self/mem", "r");
    while (maps != NULL && memory != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        char access[8];
        if (strstr(line, "patchbay") == NULL || sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 ||
            access[3] != 's' || access[0] != 'r') {
            continue;
        }
        /* Memory behind the end of the file cannot be read. */
        fseek(memory, (long)from, SEEK_SET);
        for (; from < to && fread(block, 1, sizeof block, memory) == sizeof block; from += sizeof block) {
            for (size_t i = 0; i < sizeof block; ++i) {
                digest.hash = (digest.hash ^ block[i]) * 1099511628211ULL;
            }
            digest.bytes += sizeof block;
        }
        clearerr(memory);
    }
    CHECK(maps != NULL && memory != NULL);
    fclose(memory);
    fclose(maps);
    return digest;
}

/* The filter applies to this thread only and cannot be removed. */
static void* count_calls(void* skipped) {
    open_and_close(); /* afterwards the heap holds enough memory */
    if (install() != 0) {
        printf("SKIPPED: local: the kernel refuses a seccomp filter (%s)\n", strerror(errno));
        *(int*)skipped = 1;
        return NULL;
    }
    counting = 1;
    syscall(SYS_getpid);
    counting = 0;
    CHECK(calls == 1 && last_call == SYS_getpid); /* the filter counts calls */
    calls = 0;
    counting = 1;
    for (int i = 0; i < 100; ++i) {
        open_and_close();
    }
    counting = 0;
    if (calls != 0) {
        fprintf(stderr, "%ld system calls, the last one has number %ld\n", calls, last_call);
    }
    CHECK(calls == 0);
    return NULL;
}

static MPI_Comm all_processes(MPI_Session session) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "local", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

/* Runs in a thread of its own, because finalizing the library of a job needs calls that the handler cannot execute. */
static void count_in_job(MPI_Comm comm) {
    enum { open_now, done };
    int rank = 0, size = 1, skipped = 0;
    pthread_t thread;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int* stages = shared_ints(comm, 2);
    __atomic_add_fetch(&stages[open_now], 1, __ATOMIC_ACQ_REL);
    while (shared_get(&stages[open_now]) < size) {
        usleep(100);
    }
    if (rank == size - 1) {
        const struct digest before = digest_of_shared_memory();
        pthread_create(&thread, NULL, count_calls, &skipped);
        pthread_join(thread, NULL);
        const struct digest after = digest_of_shared_memory();
        CHECK(skipped || (before.bytes > 0 && before.bytes == after.bytes && before.hash == after.hash));
        shared_set(&stages[done], 1);
    }
    while (shared_get(&stages[done]) == 0) {
        usleep(100);
    }
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "job") == 0) {
        MPI_Session first = open_session("MPI_THREAD_MULTIPLE");
        MPI_Comm comm = all_processes(first);
        count_in_job(comm);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&first);
        return failures();
    }
    int skipped = 0;
    MPI_Session first = open_session("MPI_THREAD_SINGLE");
    count_calls(&skipped);
    if (skipped) {
        MPI_Session_finalize(&first);
        return failures();
    }
    fflush(NULL);
    _exit(failures()); /* without finalizing the library, to which the filter would apply, too */
}

#else

int main(void) {
    printf("SKIPPED: local: the counter of system calls is for x86-64 without sanitizers\n");
    return 0;
}

#endif
