// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <string>

// The PMIx client library (4.2) loses these bytes in each PMIx_Init, in pmix_hash_fetch (seen with valgrind). Nothing
// else may grow with the number of times that MPI is started.
constexpr long lost_by_pmix_init = 96;

// What this process holds of the system. Bytes of the heap are exact only where malloc keeps nothing back for the
// thread: with GLIBC_TUNABLES=glibc.malloc.tcache_count=0.
struct Footprint {
    long descriptors = 0;
    long threads = 0;
    long mappings = 0;
    long heap_bytes = 0; // handed out by malloc
    long resident_kib = 0;

    static Footprint now() {
        Footprint footprint;
        // One descriptor is the directory that is being read.
        footprint.descriptors = entries("/proc/self/fd") - 1;
        footprint.threads = entries("/proc/self/task");
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);) {
            ++footprint.mappings;
        }
        const struct mallinfo2 heap = mallinfo2();
        footprint.heap_bytes = long(heap.uordblks + heap.hblkhd);
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            std::sscanf(line.c_str(), "VmRSS: %ld", &footprint.resident_kib);
        }
        return footprint;
    }

    void print(const char* when) const {
        std::fprintf(stderr, "%s: %ld descriptors, %ld threads, %ld mappings, %ld bytes of heap, %ld KiB resident\n",
            when, descriptors, threads, mappings, heap_bytes, resident_kib);
    }

private:
    static long entries(const char* directory) {
        using Iterator = std::filesystem::directory_iterator;
        return long(std::distance(Iterator(directory), Iterator()));
    }
};
