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
        for (std::size_t i = _started > size ? _started - size : 0; i < _started; ++i) {
            finish(_window[i % size]);
        }
        _started = 0;
        return _transfer.code();
    }

private:
    static constexpr std::size_t size = 64;
    enum class Kind : std::uint8_t { none, send, receive, not_started };
    struct Entry {
        Request* request;
        MPI_Count bytes;
        int peer;
        Kind kind;
    };

    Entry& free_entry() noexcept {
        Entry& oldest = _window[_started % size];
        if (_started >= size) {
            finish(oldest);
        }
        ++_started;
        return oldest;
    }
    void finish(Entry& entry) noexcept {
        switch (entry.kind) {
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
    std::array<Entry, size> _window; // those that have been started are set
    std::size_t _started = 0;
};

} // namespace patchbay::coll
