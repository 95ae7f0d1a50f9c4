// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <string>

// The PMIx client library (4.2.2) loses a block of 48 bytes in a PMIx_Get of the job's size and in one of the host
// name: a program that calls PMIx_Init and then only PMIx_Get grows by as much. Each start of MPI calls both, once.
// Nothing else may grow with the number of times that MPI is started.
constexpr long lost_by_pmix = 96;

// What this process holds of the system. Memory belongs to malloc or is mapped, and both are counted exactly; resident
// memory is not looked at, because the kernel takes pages of code away and brings them back as it likes. Bytes of the
// heap are exact only where malloc keeps nothing back for the thread: with GLIBC_TUNABLES=glibc.malloc.tcache_count=0.
struct Footprint {
    long descriptors = 0;
    long threads = 0;
    long mappings = 0;
    long mapped_kib = 0; // without the heap, which heap_bytes counts, and the stack of the first thread
    long heap_bytes = 0; // handed out by malloc

    static Footprint now() {
        Footprint footprint;
        // One descriptor is the directory that is being read.
        footprint.descriptors = entries("/proc/self/fd") - 1;
        footprint.threads = entries("/proc/self/task");
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            ++footprint.mappings;
            unsigned long begin = 0;
            unsigned long end = 0;
            if (!line.ends_with("[heap]") && !line.ends_with("[stack]") &&
                std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2) {
                footprint.mapped_kib += long((end - begin) / 1024);
            }
        }
        const struct mallinfo2 heap = mallinfo2();
        footprint.heap_bytes = long(heap.uordblks + heap.hblkhd);
        return footprint;
    }

    void print(const char* when) const {
        std::fprintf(stderr, "%s: %ld descriptors, %ld threads, %ld mappings of %ld KiB, %ld bytes of heap\n", when,
            descriptors, threads, mappings, mapped_kib, heap_bytes);
    }

private:
    static long entries(const char* directory) {
        using Iterator = std::filesystem::directory_iterator;
        return long(std::distance(Iterator(directory), Iterator()));
    }
};
