// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/transfer.h"

#include <array>
#include <cstdint>
#include <utility>

namespace patchbay::coll {

// Starts many transfers and keeps a bounded number under way, oldest first, so that a root with thousands of peers
// needs no memory per peer. Errors are those of the Transfer.
class Batch {
public:
    explicit Batch(Transfer& transfer) noexcept
        : _transfer(transfer) {}

    void irecv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
        Entry& entry = free_entry();
        entry.bytes = count * type.size;
        entry.peer = source;
        entry.request = _transfer.start_recv(buffer, count, type, source);
        entry.kind = entry.request != nullptr ? Kind::receive : Kind::not_started;
    }
    void isend(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
        Entry& entry = free_entry();
        entry.peer = dest;
        entry.request = _transfer.start_send(buffer, count, type, dest);
        entry.kind = entry.request != nullptr ? Kind::send : Kind::none;
    }
    // Waits for the rest. Returns the first error of the collective.
    int finish() noexcept {
        for (std::size_t i = 0; i < _used; ++i) {
            finish(_window[i]);
        }
        return _transfer.code();
    }

private:
    enum class Kind : std::uint8_t { none, send, receive, not_started };
    struct Entry {
        Request* request;
        MPI_Count bytes;
        int peer;
        Kind kind;
    };

    Entry& free_entry() noexcept {
        if (_used < _window.size()) {
            return _window[_used++];
        }
        Entry& oldest = _window[_next];
        _next = (_next + 1) % _window.size();
        finish(oldest);
        return oldest;
    }
    void finish(Entry& entry) noexcept {
        switch (std::exchange(entry.kind, Kind::none)) {
        case Kind::none:
            break;
        case Kind::send:
            _transfer.finish_send(entry.request, entry.peer);
            break;
        case Kind::receive:
            _transfer.finish_recv(entry.request, entry.bytes, entry.peer);
            break;
        case Kind::not_started:
            _transfer.recv(nullptr, 0, *to_object<Datatype>(MPI_BYTE), entry.peer);
            break;
        }
    }

    Transfer& _transfer;
    std::array<Entry, 64> _window; // the first _used ones
    std::size_t _used = 0;
    std::size_t _next = 0; // the oldest one, when all are used
};

} // namespace patchbay::coll
