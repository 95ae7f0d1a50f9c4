// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/osc_rdma/slow_one_sided.h"

#include <gtest/gtest.h>

namespace patchbay::osc::rdma::test {

// The buffers of an origin that is this process itself.
class OwnSpace final : public btl::OneSided {
public:
    int error = 0; // of the next copies
    btl::Offers offers() const noexcept override { return btl::Offers::none; }
    btl::Offers offered(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return btl::Offers::none; }
    Result<btl::RemoteKey> register_memory(void*, std::uint64_t) noexcept override { return btl::RemoteKey{}; }
    void deregister_memory(const btl::RemoteKey&) noexcept override {}
    std::byte* map(btl::Endpoint&, const btl::RemoteKey&) noexcept override { return nullptr; }
    Doorbell* bell(btl::Endpoint&) noexcept override { return nullptr; }
    btl::Started put(btl::Endpoint&, std::span<const iovec> local, const btl::RemoteKey& key,
        std::span<const btl::RemotePiece> remote, btl::Wake, btl::Completion*) noexcept override {
        return copy(key, reinterpret_cast<void*>(remote[0].offset), local[0].iov_base, remote[0].bytes);
    }
    btl::Started get(btl::Endpoint&, std::span<const iovec> local, const btl::RemoteKey& key,
        std::span<const btl::RemotePiece> remote, btl::Completion*) noexcept override {
        return copy(key, local[0].iov_base, reinterpret_cast<const void*>(remote[0].offset), remote[0].bytes);
    }
    btl::Started fetch_op(btl::Endpoint&, btl::Atomic, btl::Width, const btl::RemoteKey&, std::uint64_t, std::uint64_t,
        void*, btl::Wake, btl::Completion*) noexcept override {
        return {btl::StartCode::failed, EOPNOTSUPP};
    }
    btl::Started compare_swap(btl::Endpoint&, btl::Width, const btl::RemoteKey&, std::uint64_t, std::uint64_t,
        std::uint64_t, void*, btl::Wake, btl::Completion*) noexcept override {
        return {btl::StartCode::failed, EOPNOTSUPP};
    }
    btl::Started flush(btl::Endpoint&, btl::Completion*) noexcept override { return {}; }

    static constexpr btl::RemoteKey key{{1, 2, 3, 4}};

private:
    btl::Started copy(const btl::RemoteKey& used, void* to, const void* from, std::size_t bytes) noexcept {
        EXPECT_TRUE(used == key);
        if (error != 0) {
            return {btl::StartCode::failed, error};
        }
        std::memcpy(to, from, bytes);
        return {};
    }
};

} // namespace patchbay::osc::rdma::test
