// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/btl/btl.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

namespace patchbay::chan::rdma::test {

class AnyEndpoint final : public btl::Endpoint {
public:
    AnyEndpoint()
        : Endpoint(ProcessId{}) {}
};

// A network whose peer is this process: a key is the address and the size of a range. Operations end in a later poll,
// those without a flush between them in the reverse order; each third call finds no room. Nothing is mapped.
class SlowModule final : public btl::Module, private btl::OneSided {
public:
    int fails_at = -1; // the operation of that number, and all later ones, end with ESRCH
    int operations = 0;

    const char* name() const noexcept override { return "slow"; }
    const btl::Limits& limits() const noexcept override { return _limits; }
    void set_receiver(btl::Receiver, void*) noexcept override {}
    bool reaches(ProcessId) const noexcept override { return true; }
    btl::Endpoint* connect(ProcessId) noexcept override { return &_endpoint; }
    btl::SendCode send(btl::Endpoint&, const void*, std::size_t, const void*, std::size_t) noexcept override {
        return btl::SendCode::failed;
    }
    Reservation reserve(btl::Endpoint&, std::size_t, std::size_t) noexcept override { return {}; }
    btl::SendCode commit(btl::Endpoint&, const void*, std::size_t, std::size_t) noexcept override {
        return btl::SendCode::failed;
    }
    btl::OneSided* one_sided() noexcept override { return this; }
    int poll() noexcept override {
        int events = 0;
        std::vector<Operation> batch = std::move(_operations);
        _operations.clear();
        for (auto operation = batch.rbegin(); operation != batch.rend(); ++operation, ++events) {
            if (operation->error == 0) {
                operation->run();
            }
            if (operation->end != nullptr) {
                operation->end->done(*operation->end, operation->error);
            }
        }
        std::vector<btl::Completion*> flushes = std::move(_flushes);
        _flushes.clear();
        for (btl::Completion* flush : flushes) {
            flush->done(*flush, 0);
            ++events;
        }
        return events;
    }

private:
    struct Operation {
        std::function<void()> run;
        btl::Completion* end;
        int error;
    };

    btl::Offers offers() const noexcept override {
        return btl::Offers::put | btl::Offers::atomics_64 | btl::Offers::processor_atomics | btl::Offers::notify;
    }
    btl::Offers offered(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return offers(); }
    Result<btl::RemoteKey> register_memory(void* base, std::uint64_t bytes) noexcept override {
        return btl::RemoteKey{{reinterpret_cast<std::uintptr_t>(base), bytes, 0, 0}};
    }
    void deregister_memory(const btl::RemoteKey&) noexcept override {}
    std::byte* map(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return nullptr; }
    Doorbell* bell(btl::Endpoint&) noexcept override { return nullptr; }
    using btl::Module::get; // these have the same names
    using btl::Module::put;
    btl::Started put(btl::Endpoint&, std::span<const iovec> local, const btl::RemoteKey& key,
        std::span<const btl::RemotePiece> remote, btl::Wake, btl::Completion* end) noexcept override {
        const iovec from = local.front();
        const btl::RemotePiece to = remote.front();
        if (to.offset > key.words[1] || to.bytes > key.words[1] - to.offset) {
            return {btl::StartCode::failed, ERANGE};
        }
        return start(end, [from, to, key] {
            std::memcpy(reinterpret_cast<void*>(key.words[0] + to.offset), from.iov_base, from.iov_len);
        });
    }
    btl::Started get(btl::Endpoint&, std::span<const iovec>, const btl::RemoteKey&, std::span<const btl::RemotePiece>,
        btl::Completion*) noexcept override {
        return {btl::StartCode::failed, EOPNOTSUPP};
    }
    btl::Started fetch_op(btl::Endpoint&, btl::Atomic op, btl::Width, const btl::RemoteKey& key, std::uint64_t offset,
        std::uint64_t operand, void*, btl::Wake, btl::Completion* end) noexcept override {
        return start(end, [key, offset, operand, op] {
            auto* const place = reinterpret_cast<std::uint64_t*>(key.words[0] + offset);
            if (op == btl::Atomic::add) {
                __atomic_fetch_add(place, operand, __ATOMIC_RELEASE);
            } else {
                __atomic_store_n(place, operand, __ATOMIC_RELEASE);
            }
        });
    }
    btl::Started compare_swap(btl::Endpoint&, btl::Width, const btl::RemoteKey&, std::uint64_t, std::uint64_t,
        std::uint64_t, void*, btl::Wake, btl::Completion*) noexcept override {
        return {btl::StartCode::failed, EOPNOTSUPP};
    }
    btl::Started flush(btl::Endpoint&, btl::Completion* end) noexcept override {
        _flushes.push_back(end);
        return {btl::StartCode::pending, 0};
    }
    btl::Started start(btl::Completion* end, std::function<void()> run) noexcept {
        if (++_calls % 3 == 0) {
            return {btl::StartCode::full, 0};
        }
        const bool fails = fails_at >= 0 && operations >= fails_at;
        ++operations;
        _operations.push_back({std::move(run), end, fails ? ESRCH : 0});
        return {btl::StartCode::pending, 0};
    }

    btl::Limits _limits{};
    AnyEndpoint _endpoint;
    int _calls = 0;
    std::vector<Operation> _operations;
    std::vector<btl::Completion*> _flushes;
};

} // namespace patchbay::chan::rdma::test
