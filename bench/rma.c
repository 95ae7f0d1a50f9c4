/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication by operation, size and kind of memory; rank 0 is the origin, the last rank the target.
     rma allocate [SIZE,...]    each operation with its synchronization, on memory of MPI_Win_allocate
     rma create [SIZE,...]      the same on memory of MPI_Win_create; without MPI_Compare_and_swap, which crashes
                                there with Open MPI 4.1
     rma dynamic [SIZE,...]     the same on attached memory of MPI_Win_create_dynamic
                                "single": in windows with mpi_accumulate_granularity=8, which this library makes use of
     rma contention             all ranks acquire the exclusive lock of rank 0, or add to its memory: the time of one
                                acquisition, or addition
     rma windows                MPI_Win_allocate and MPI_Win_create with MPI_Win_free, and a window's memory */
#include "rma.h"

enum { largest = 4 << 20 };

static int target;

static void put_flush(void) {
    MPI_Put(local_memory, bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
}
static void get_flush(void) {
    MPI_Get(local_memory, bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
}
static void accumulate_flush(void) {
    MPI_Accumulate(local_memory, bytes / 8, MPI_INT64_T, target, place, bytes / 8, MPI_INT64_T, MPI_SUM, window);
    MPI_Win_flush(target, window);
}
static void fetch_and_op_flush(void) {
    MPI_Fetch_and_op(local_memory, local_memory + 8, MPI_INT64_T, target, place, MPI_SUM, window);
    MPI_Win_flush(target, window);
}
static void compare_and_swap_flush(void) {
    MPI_Compare_and_swap(local_memory, local_memory + 8, local_memory + 16, MPI_INT64_T, target, place, window);
    MPI_Win_flush(target, window);
}
static void locked_put(int type) {
    MPI_Win_lock(type, target, 0, window);
    MPI_Put(local_memory, bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window);
    MPI_Win_unlock(target, window);
}
static void shared_put(void) {
    locked_put(MPI_LOCK_SHARED);
}
static void exclusive_put(void) {
    locked_put(MPI_LOCK_EXCLUSIVE);
}

static const struct {
    const char* name;
    void (*run)(void);
    int in_lock_all, one_size;
} passive[] = {
    {"put_flush", put_flush, 1, 0},
    {"get_flush", get_flush, 1, 0},
    {"accumulate_flush", accumulate_flush, 1, 0},
    {"shared_put", shared_put, 0, 0},
    {"exclusive_put", exclusive_put, 0, 0},
    {"fetch_and_op_flush", fetch_and_op_flush, 1, 1},
    {"compare_and_swap_flush", compare_and_swap_flush, 1, 1},
};

static MPI_Group origin_group, target_group;

static void fence(void* unused) {
    (void)unused;
    MPI_Win_fence(0, window);
}
static void put_fence(void* unused) {
    (void)unused;
    if (rank == 0) {
        MPI_Put(local_memory, bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window);
    }
    MPI_Win_fence(0, window);
}
static void put_pscw(void* unused) {
    (void)unused;
    if (rank == 0) {
        MPI_Win_start(target_group, 0, window);
        MPI_Put(local_memory, bytes, MPI_BYTE, target, place, bytes, MPI_BYTE, window);
        MPI_Win_complete(window);
    } else if (rank == target) {
        MPI_Win_post(origin_group, 0, window);
        MPI_Win_wait(window);
    }
}

static void measure_active(const char* memory, const char* name, void (*run)(void*), const char* label) {
    char text[96];
    snprintf(text, sizeof text, "%s_%s_%s", memory, name, label);
    const struct repeated repeated = {text, run, NULL, NULL, 100000};
    repeat(&repeated, MPI_COMM_WORLD);
}

enum { of_program, of_library, attached };

static void measure_size(int kind, long size) {
    static const char* const names[] = {"create", "allocate", "dynamic"};
    const char* memory = names[kind];
    const int allocated = kind == of_library;
    char label[32], text[96];
    size_label(label, sizeof label, size);
    bytes = (int)size;
    for (size_t i = 0; i < sizeof passive / sizeof *passive; i++) {
        if ((passive[i].one_size && size != 8) || (!allocated && passive[i].run == compare_and_swap_flush)) {
            continue;
        }
        if (passive[i].in_lock_all) {
            MPI_Win_lock_all(0, window);
        }
        const double time = time_of_origin(passive[i].run);
        if (passive[i].in_lock_all) {
            MPI_Win_unlock_all(window);
        }
        if (rank == 0) {
            snprintf(text, sizeof text, "%s_%s_%s", memory, passive[i].name, label);
            metric(text, time, "us", "lower");
        }
    }
    MPI_Win_fence(0, window);
    measure_active(memory, "put_fence", put_fence, label);
    if (size == 8) {
        measure_active(memory, "fence", fence, label);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    if (ranks > 1) {
        measure_active(memory, "put_pscw", put_pscw, label);
    }
}

/* A granularity of one element. */
static void use_single_elements(void) {
    MPI_Info_create(&window_info);
    MPI_Info_set(window_info, "mpi_accumulate_granularity", "8");
}
static void use_any_elements(void) {
    MPI_Info_free(&window_info);
}

static void single_elements(void) {
    const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {{"allocate_single_accumulate_flush_8B", accumulate_flush},
        {"allocate_single_fetch_and_op_flush_8B", fetch_and_op_flush},
        {"allocate_single_compare_and_swap_flush_8B", compare_and_swap_flush}};
    use_single_elements();
    open_window(1, 64);
    bytes = 8;
    MPI_Win_lock_all(0, window);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double time = time_of_origin(cases[i].run);
        if (rank == 0) {
            metric(cases[i].name, time, "us", "lower");
        }
    }
    MPI_Win_unlock_all(window);
    close_window(1);
    use_any_elements();
}

static void operations(int kind, const char* sizes) {
    MPI_Group all;
    const int origin = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &origin, &origin_group);
    MPI_Group_incl(all, 1, &target, &target_group);
    if (kind == attached) {
        open_dynamic_window(largest);
    } else {
        open_window(kind, largest);
    }
    for (long size = next_size(&sizes); size > 0; size = next_size(&sizes)) {
        if (size >= 8 && size <= largest) {
            measure_size(kind, size);
        }
    }
    if (kind == attached) {
        close_dynamic_window();
    } else {
        close_window(kind);
    }
    if (kind == of_library) {
        single_elements();
    }
    MPI_Group_free(&all);
    MPI_Group_free(&origin_group);
    MPI_Group_free(&target_group);
}

/* Each rank acquires the lock as often as it can until the time is over; the longest wait of any rank counts, too. */
static void contention(void) {
    const double seconds = 0.5 / (BENCH_DIVISOR > 5 ? 5 : BENCH_DIVISOR);
    double longest = 0, worst, times[2] = {0, 0}, sums[2];
    bytes = 8;
    target = 0;
    open_window(1, 8);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    do {
        const double before = MPI_Wtime();
        exclusive_put();
        const double wait = MPI_Wtime() - before;
        longest = wait > longest ? wait : longest;
        times[0] += 1;
    } while (MPI_Wtime() - start < seconds);
    times[1] = MPI_Wtime() - start;
    MPI_Allreduce(times, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&longest, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        char name[64];
        snprintf(name, sizeof name, "contended_lock_%dranks", ranks);
        metric(name, sums[1] / ranks / sums[0] * 1e6, "us", "lower");
        snprintf(name, sizeof name, "contended_lock_longest_%dranks", ranks);
        metric(name, worst * 1e6, "us", "lower");
    }
    close_window(1);
}

/* All ranks add to one element of rank 0. */
static void contended_addition(const char* name) {
    const double seconds = 0.25 / (BENCH_DIVISOR > 5 ? 5 : BENCH_DIVISOR);
    double times[2] = {0, 0}, sums[2];
    target = 0;
    open_window(1, 8);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    do {
        fetch_and_op_flush();
        times[0] += 1;
    } while (MPI_Wtime() - start < seconds);
    times[1] = MPI_Wtime() - start;
    MPI_Win_unlock_all(window);
    MPI_Allreduce(times, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        char text[64];
        snprintf(text, sizeof text, "contended_%s_%dranks", name, ranks);
        metric(text, sums[1] / ranks / sums[0] * 1e6, "us", "lower");
    }
    close_window(1);
}

static void allocate_free(void* unused) {
    (void)unused;
    open_window(1, 4096);
    close_window(1);
}
static char small_memory[4096];
static void create_free(void* unused) {
    (void)unused;
    MPI_Win_create(small_memory, sizeof small_memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_free(&window);
}

/* Memory of this process that no other one shares in part: KiB. */
static double own_memory(void) {
    char line[256];
    long kib = 0;
    FILE* file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Pss: %ld", &kib);
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)kib;
}

/* What a window of 8 bytes takes, over all ranks, by 100 of them. */
static double memory_of_window(int allocated) {
    enum { many = 100 };
    MPI_Win windows[many];
    char* bases[many];
    double mine, sum;
    open_window(allocated, 8); /* what the first window takes once */
    close_window(allocated);
    mine = -own_memory();
    for (int i = 0; i < many; i++) {
        open_window(allocated, 8);
        windows[i] = window;
        bases[i] = window_memory;
    }
    mine += own_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < many; i++) {
        window = windows[i];
        window_memory = bases[i];
        close_window(allocated);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum > 0 ? sum / many : 0;
}

static void windows(void) {
    const struct repeated allocate = {"window_allocate_4KiB", allocate_free, NULL, NULL, 2000};
    const struct repeated create = {"window_create_4KiB", create_free, NULL, NULL, 2000};
    repeat(&allocate, MPI_COMM_WORLD);
    repeat(&create, MPI_COMM_WORLD);
    for (int allocated = 1; allocated >= 0; allocated--) {
        const double kib = memory_of_window(allocated);
        if (rank == 0) {
            metric(allocated ? "window_memory_allocate_8B" : "window_memory_create_8B", kib, "KiB", "lower");
        }
    }
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "allocate";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    target = ranks - 1;
    local_memory = calloc(largest, 1);
    if (strcmp(what, "allocate") == 0 || strcmp(what, "create") == 0 || strcmp(what, "dynamic") == 0) {
        operations(what[0] == 'a' ? of_library
                : what[0] == 'c'  ? of_program
                                  : attached,
            argc > 2 ? argv[2] : "8,64,512,4096,65536,1048576,4194304");
    } else if (strcmp(what, "contention") == 0) {
        contention();
        contended_addition("fetch_and_op");
        use_single_elements();
        contended_addition("single_fetch_and_op");
        use_any_elements();
    } else if (strcmp(what, "windows") == 0) {
        windows();
    } else {
        fprintf(stderr, "rma: there is no '%s'\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    free(local_memory);
    MPI_Finalize();
    return 0;
}
