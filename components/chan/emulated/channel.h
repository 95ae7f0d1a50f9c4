// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/chan.h"

#include <cstddef>
#include <vector>

namespace patchbay::chan::emulated {

// A half of a channel in persistent requests of the pml, one for each start that may be outstanding, with a tag that no
// other message has. The pml matches them in the order in which they are started.
class EmulatedChannel final : public Channel {
public:
    // Throws std::bad_alloc.
    EmulatedChannel(Progress& waits, const Binding& binding);

    // Makes the requests. MPI code.
    int make_requests(void* buffer, MPI_Count count) noexcept;

    int start() noexcept override;
    void check() noexcept override;
    int connect(std::span<const std::byte>) noexcept override { return MPI_SUCCESS; }
    int rebind(void* buffer, MPI_Count count) noexcept override;
    void disconnect() noexcept override { release_requests(); }
    // The pml ends the messages.
    void partner_failed() noexcept override {}
    std::int32_t references_to_comm() const noexcept override;
    std::string_view cause() const noexcept override;

private:
    using Requests = std::vector<Request*>;

    int make_request(void* buffer, MPI_Count count, Request** made) noexcept;
    void take_oldest() noexcept;
    std::size_t after(std::size_t slot) const noexcept { return slot + 1 == _requests.size() ? 0 : slot + 1; }
    void release_requests() noexcept;
    static void release(Requests& requests) noexcept;
    int retire() noexcept override;

    Requests _requests;         // of start s: s mod slackness
    Requests _others;           // those of a rebind, while it makes them
    std::size_t _next = 0;      // of the next start
    std::size_t _oldest = 0;    // of the oldest start whose message is not complete or not taken
    Request* _failed = nullptr; // whose error the request has
};

} // namespace patchbay::chan::emulated
