// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/transfer.h"

#include <array>

namespace patchbay::coll {

// Starts many transfers and keeps a bounded number under way, oldest first, so that a root with thousands of peers
// needs no memory per peer.
class Batch {
public:
    explicit Batch(const Transfer& transfer) noexcept
        : _transfer(transfer) {}

    int irecv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
        const int code = make_room();
        return code != MPI_SUCCESS ? code : keep(_transfer.irecv(buffer, count, type, source, &_window[_next]));
    }
    int isend(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        const int code = make_room();
        return code != MPI_SUCCESS ? code : keep(_transfer.isend(buffer, count, type, dest, &_window[_next]));
    }
    // Waits for the rest; the first of `code` and their errors.
    int finish(int code) noexcept {
        const int last = _transfer.wait_all(_window);
        _window.fill(nullptr);
        return code != MPI_SUCCESS ? code : last;
    }

private:
    int make_room() noexcept {
        Request* oldest = _window[_next];
        _window[_next] = nullptr;
        return oldest == nullptr ? MPI_SUCCESS : _transfer.wait(oldest);
    }
    int keep(int code) noexcept {
        _next = (_next + 1) % _window.size();
        return code;
    }

    const Transfer& _transfer;
    std::array<Request*, 64> _window{};
    std::size_t _next = 0;
};

} // namespace patchbay::coll
