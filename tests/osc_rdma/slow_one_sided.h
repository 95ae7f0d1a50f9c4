// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/progress.h"
#include "frameworks/btl/btl.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

namespace patchbay::osc::rdma::test {

class AnyEndpoint final : public btl::Endpoint {
public:
    AnyEndpoint()
        : Endpoint(ProcessId{}) {}
};

// A network on a workbench: its peer is a piece of memory of this process. Operations end in a later poll, in the
// reverse order; each third one finds no room the first time.
class SlowOneSided final : public btl::OneSided {
public:
    SlowOneSided(Progress& progress, std::byte* memory, std::size_t bytes)
        : _memory(memory),
          _bytes(bytes) {
        _poller =
            progress.add_poller([](void* self) noexcept { return static_cast<SlowOneSided*>(self)->end_all(); }, this);
    }

    int operations = 0;
    int fails_at = -1; // the operation of that number ends with ESRCH

    btl::Offers offers() const noexcept override { return btl::Offers::put | btl::Offers::get; }
    btl::Offers offered(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return offers(); }
    Result<btl::RemoteKey> register_memory(void*, std::uint64_t) noexcept override { return btl::RemoteKey{}; }
    void deregister_memory(const btl::RemoteKey&) noexcept override {}
    std::byte* map(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return nullptr; }
    Doorbell* bell(btl::Endpoint&) noexcept override { return nullptr; }

    btl::Started put(btl::Endpoint&, std::span<const iovec> local, const btl::RemoteKey&,
        std::span<const btl::RemotePiece> remote, btl::Wake, btl::Completion* end) noexcept override {
        return later(local, remote, end, [](std::byte* here, std::byte* there) { *there = *here; });
    }
    btl::Started get(btl::Endpoint&, std::span<const iovec> local, const btl::RemoteKey&,
        std::span<const btl::RemotePiece> remote, btl::Completion* end) noexcept override {
        return later(local, remote, end, [](std::byte* here, std::byte* there) { *here = *there; });
    }
    btl::Started fetch_op(btl::Endpoint&, btl::Atomic op, btl::Width, const btl::RemoteKey&, std::uint64_t offset,
        std::uint64_t operand, void* fetched, btl::Wake, btl::Completion* end) noexcept override {
        return start(end, [this, op, offset, operand, fetched] {
            std::uint64_t value = 0;
            std::memcpy(&value, _memory + offset, sizeof value);
            std::memcpy(fetched, &value, sizeof value);
            value = op == btl::Atomic::add ? value + operand : op == btl::Atomic::swap ? operand : value;
            std::memcpy(_memory + offset, &value, sizeof value);
        });
    }
    btl::Started compare_swap(btl::Endpoint&, btl::Width, const btl::RemoteKey&, std::uint64_t offset,
        std::uint64_t compare, std::uint64_t desired, void* fetched, btl::Wake,
        btl::Completion* end) noexcept override {
        return start(end, [this, offset, compare, desired, fetched] {
            std::uint64_t value = 0;
            std::memcpy(&value, _memory + offset, sizeof value);
            std::memcpy(fetched, &value, sizeof value);
            if (value == compare) {
                std::memcpy(_memory + offset, &desired, sizeof desired);
            }
        });
    }
    // Complete when all that has been started before is: it is the last one of a poll, because it waits for it.
    btl::Started flush(btl::Endpoint&, btl::Completion* end) noexcept override {
        _flushes.push_back(end);
        return {btl::StartCode::pending, 0};
    }
    std::size_t pending() const noexcept { return _operations.size(); }

private:
    struct Operation {
        std::function<void()> run;
        btl::Completion* end;
        int error;
    };

    template <class Move>
    btl::Started later(std::span<const iovec> local, std::span<const btl::RemotePiece> remote, btl::Completion* end,
        Move move) noexcept {
        std::vector<iovec> here(local.begin(), local.end());
        std::vector<btl::RemotePiece> there(remote.begin(), remote.end());
        std::size_t bytes = 0;
        for (const btl::RemotePiece& piece : there) {
            if (piece.offset + piece.bytes > _bytes) {
                return {btl::StartCode::failed, ERANGE};
            }
            bytes += piece.bytes;
        }
        for (const iovec& block : here) {
            bytes -= block.iov_len;
        }
        if (bytes != 0) {
            return {btl::StartCode::failed, EINVAL};
        }
        return start(end, [this, here, there, move] {
            std::size_t piece = 0;
            std::size_t in_piece = 0;
            for (const iovec& block : here) {
                for (std::size_t i = 0; i < block.iov_len; ++i) {
                    while (in_piece == there[piece].bytes) {
                        ++piece;
                        in_piece = 0;
                    }
                    move(static_cast<std::byte*>(block.iov_base) + i, _memory + there[piece].offset + in_piece++);
                }
            }
        });
    }
    btl::Started start(btl::Completion* end, std::function<void()> run) noexcept {
        if (++_calls % 3 == 0) {
            return {btl::StartCode::full, 0};
        }
        _operations.push_back({std::move(run), end, operations++ == fails_at ? ESRCH : 0});
        return {btl::StartCode::pending, 0};
    }
    int end_all() noexcept {
        int events = 0;
        while (!_operations.empty()) {
            Operation last = std::move(_operations.back());
            _operations.pop_back();
            if (last.error == 0) {
                last.run();
            }
            if (last.end != nullptr) {
                last.end->done(*last.end, last.error);
            }
            ++events;
        }
        for (; !_flushes.empty(); ++events) {
            btl::Completion* const end = _flushes.back();
            _flushes.pop_back();
            end->done(*end, 0);
        }
        return events;
    }

    std::byte* const _memory;
    const std::size_t _bytes;
    int _calls = 0;
    std::vector<Operation> _operations;
    std::vector<btl::Completion*> _flushes;
    PollerHandle _poller;
};

} // namespace patchbay::osc::rdma::test
