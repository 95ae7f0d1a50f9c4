// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/threads/engine.h"

#include <array>

namespace patchbay::threads {

// The cells of an engine, which are used in turn. One that is still in use, because its message is unexpected at its
// receiver, is replaced by memory of the heap.
struct Engine::Pool {
    static constexpr std::size_t cells = 16;
    struct alignas(64) One {
        Cell cell;
        alignas(64) std::byte memory[eager_limit];
    };
    std::array<One, cells> all;

    Pool() noexcept {
        for (One& one : all) {
            one.cell.payload = one.memory;
        }
    }
};

} // namespace patchbay::threads
