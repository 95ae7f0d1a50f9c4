// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <mpi.h>

extern int world_rank;
extern int world_size;
extern MPI_Comm comm; // made for each attempt while there is memory

// Success, or one of the errors by which a lack of memory may show. Says whether it is success.
bool fine(int code);

struct Scenario {
    const char* group;
    const char* name;
    void (*run)();
};

// Persistent channels, to the next process, or to the process itself where there is one only (channels.cpp).
void bind_one_after_the_other();
void bind_all();
void bind_one();
void bind_in_another_order();
