// SPDX-License-Identifier: BSD-3-Clause
#include "tests/out_of_memory/failing_malloc.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

// glibc's own, under the names that it keeps for programs which replace malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace failing_malloc {

namespace {

std::atomic<bool> armed{false};
std::atomic<bool> paused{false};
std::atomic<long> left{0}; // allocations that still succeed
std::atomic<long> failed{0};
std::atomic<bool> goes_on{false};

bool fails() {
    if (!armed.load() || paused.load()) {
        return false;
    }
    const long before = left.fetch_sub(1);
    if (before > 0 || (before < 0 && !goes_on.load())) {
        return false;
    }
    failed.fetch_add(1);
    errno = ENOMEM;
    return true;
}

} // namespace

void arm(long number, bool all_later) {
    left = number;
    failed = 0;
    goes_on = all_later;
    armed = true;
}

void pause() {
    paused = true;
}

void resume() {
    paused = false;
}

long disarm() {
    armed = false;
    return failed;
}

} // namespace failing_malloc

extern "C" {

void* malloc(std::size_t size) {
    return failing_malloc::fails() ? nullptr : __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
    return failing_malloc::fails() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
    return failing_malloc::fails() ? nullptr : __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
    return failing_malloc::fails() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    void* made = memalign(alignment, size);
    if (made == nullptr) {
        return ENOMEM;
    }
    *memory = made;
    return 0;
}
}
