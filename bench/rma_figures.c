/* SPDX-License-Identifier: BSD-3-Clause */
/* The quantities of Figures 2 to 5 of the paper on MPI 3.0 over Portals 4.0, as times.
     rma_figures synchronization     Figure 2: each synchronization alone, with this number of ranks
     rma_figures transfers [SIZE,..] Figures 3 and 4, two ranks: put, get and messages, one at a time (without the
                                     synchronization) and 64 in one epoch, as the time of one
     rma_figures epochs [SIZE,..]    Figure 5, two ranks: 1 to 256 puts in one lock epoch, as the time of one put */
#include "rma.h"

enum { largest = 4 << 20, many = 64 };

static int puts_of_epoch;

static void flush(void* unused) {
    (void)unused;
    MPI_Win_flush(0, window);
}
static void lock_shared(void* unused) {
    (void)unused;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Win_unlock(0, window);
}
static void lock_exclusive(void* unused) {
    (void)unused;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Win_unlock(0, window);
}
static void fence(void* unused) {
    (void)unused;
    MPI_Win_fence(0, window);
}
/* Each rank exposes its memory to its predecessor and has access to its successor. */
static MPI_Group before, after;
static void pscw(void* unused) {
    (void)unused;
    MPI_Win_post(before, 0, window);
    MPI_Win_start(after, 0, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
}

static void measure_all(const char* what, void (*run)(void*)) {
    char name[80];
    snprintf(name, sizeof name, "sync_%s_%dranks", what, ranks);
    const struct repeated repeated = {name, run, NULL, NULL, 100000};
    repeat(&repeated, MPI_COMM_WORLD);
}

static void synchronization(void) {
    MPI_Group all;
    const int previous = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &previous, &before);
    MPI_Group_incl(all, 1, &next, &after);
    open_window(1, 64);
    MPI_Win_lock_all(0, window);
    measure_all("flush", flush);
    MPI_Win_unlock_all(window);
    measure_all("lock_shared", lock_shared);
    measure_all("lock_exclusive", lock_exclusive);
    measure_all("pscw", pscw);
    measure_all("fence", fence);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    close_window(1);
    MPI_Group_free(&all);
    MPI_Group_free(&before);
    MPI_Group_free(&after);
}

static void empty_epoch(void) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Win_unlock(1, window);
}
static void put_epoch(void) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    for (int i = 0; i < puts_of_epoch; i++) {
        MPI_Put(local_memory, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    }
    MPI_Win_unlock(1, window);
}
static void get_epoch(void) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    for (int i = 0; i < puts_of_epoch; i++) {
        MPI_Get(local_memory, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, window);
    }
    MPI_Win_unlock(1, window);
}

static void print_time(const char* what, const char* label, double time) {
    char name[80];
    if (rank == 0) {
        snprintf(name, sizeof name, "%s_%s", what, label);
        metric(name, time > 0.001 ? time : 0.001, "us", "lower");
    }
}

static void pingpong(void* unused) {
    (void)unused;
    for (int way = 0; way < 2; way++) {
        if (rank == way) {
            MPI_Send(local_memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(local_memory, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}
static void message_stream(void* unused) {
    MPI_Request requests[many];
    (void)unused;
    for (int i = 0; i < many; i++) {
        if (rank == 0) {
            MPI_Isend(local_memory, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
        } else {
            MPI_Irecv(local_memory, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
        }
    }
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}
/* Microseconds of a call of both ranks. */
static double time_of_both(void (*run)(void*)) {
    enum { chunks = 7 };
    double samples[chunks];
    int rounds;
    const struct repeated repeated = {"", run, NULL, NULL, 100000};
    repeat_mean(&repeated, MPI_COMM_WORLD, 5);
    rounds = (int)(0.25 / BENCH_DIVISOR / chunks / repeat_mean(&repeated, MPI_COMM_WORLD, 5));
    rounds = rounds < 3 ? 3 : rounds > repeated.most ? repeated.most : rounds;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < chunks; k++) {
        samples[k] = repeat_mean(&repeated, MPI_COMM_WORLD, rounds) * 1e6;
    }
    return metric_median(samples, chunks);
}

static void transfers(const char* sizes) {
    open_window(1, largest);
    const double epoch = time_of_origin(empty_epoch);
    for (long size = next_size(&sizes); size > 0; size = next_size(&sizes)) {
        char label[32];
        size_label(label, sizeof label, size);
        bytes = (int)size;
        puts_of_epoch = 1;
        print_time("put", label, time_of_origin(put_epoch) - epoch);
        print_time("get", label, time_of_origin(get_epoch) - epoch);
        print_time("message", label, time_of_both(pingpong) / 2);
        puts_of_epoch = many;
        print_time("put_stream", label, time_of_origin(put_epoch) / many);
        print_time("get_stream", label, time_of_origin(get_epoch) / many);
        print_time("message_stream", label, time_of_both(message_stream) / many);
    }
    close_window(1);
}

static void epochs(const char* sizes) {
    open_window(1, largest);
    const double epoch = time_of_origin(empty_epoch);
    for (long size = next_size(&sizes); size > 0; size = next_size(&sizes)) {
        char label[32], name[48];
        size_label(label, sizeof label, size);
        bytes = (int)size;
        for (puts_of_epoch = 1; puts_of_epoch <= 256; puts_of_epoch *= 4) {
            snprintf(name, sizeof name, "puts_%03d", puts_of_epoch);
            print_time(name, label, (time_of_origin(put_epoch) - epoch) / puts_of_epoch);
        }
    }
    close_window(1);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "synchronization";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    local_memory = calloc(largest, 1);
    if (strcmp(what, "synchronization") == 0) {
        synchronization();
    } else if (ranks != 2) {
        fprintf(stderr, "rma_figures %s needs two ranks\n", what);
        MPI_Abort(MPI_COMM_WORLD, 2);
    } else if (strcmp(what, "transfers") == 0) {
        transfers(argc > 2 ? argv[2] : "8,64,512,4096,32768,262144,1048576,4194304");
    } else {
        epochs(argc > 2 ? argv[2] : "8,512,4096,32768,262144");
    }
    free(local_memory);
    MPI_Finalize();
    return 0;
}
