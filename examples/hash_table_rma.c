/* SPDX-License-Identifier: BSD-3-Clause */
/* A distributed hash table with one-sided communication: the rank that stores a key does nothing when another rank
 * inserts or finds it. MPI_Compare_and_swap claims a place, MPI_Put writes the value, MPI_Fetch_and_op counts the keys.
 */
#include "hash_table.h"

/* The window of a rank: how many keys it stores, then key and value of each place. */
static MPI_Win window;
static uint64_t* memory;

static MPI_Aint key_at(uint64_t place) {
    return (MPI_Aint)(1 + 2 * place);
}

static void table_open(void) {
    const uint64_t words = 1 + 2 * places;
    MPI_Win_allocate(
        (MPI_Aint)(words * sizeof(uint64_t)), sizeof(uint64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
    for (uint64_t i = 0; i < words; ++i) {
        memory[i] = 0;
    }
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
}

static void table_insert(uint64_t key, uint64_t value) {
    static const uint64_t nothing = 0, one = 1;
    const int home = home_of(key);
    uint64_t found = 1, probe = 0, count;
    for (; found != nothing; ++probe) {
        MPI_Compare_and_swap(&key, &nothing, &found, MPI_UINT64_T, home, key_at(place_of(key, probe)), window);
        MPI_Win_flush(home, window);
    }
    MPI_Put(&value, 1, MPI_UINT64_T, home, key_at(place_of(key, probe - 1)) + 1, 1, MPI_UINT64_T, window);
    MPI_Fetch_and_op(&one, &count, MPI_UINT64_T, home, 0, MPI_SUM, window);
    MPI_Win_flush(home, window);
}

static uint64_t table_find(uint64_t key) {
    const int home = home_of(key);
    uint64_t entry[2];
    for (uint64_t probe = 0;; ++probe) {
        MPI_Get(entry, 2, MPI_UINT64_T, home, key_at(place_of(key, probe)), 2, MPI_UINT64_T, window);
        MPI_Win_flush(home, window);
        if (entry[0] == key || entry[0] == 0) {
            return entry[0] == key ? entry[1] : 0;
        }
    }
}

static uint64_t table_phase(void) {
    uint64_t stored;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&stored, 1, MPI_UINT64_T, rank, 0, 1, MPI_UINT64_T, window);
    MPI_Win_flush(rank, window);
    return stored;
}

static void table_close(void) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}
