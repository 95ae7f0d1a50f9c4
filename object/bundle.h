// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// A persistent request that consists of other persistent requests, its members: a start starts all of them, in their
// order, and the bundle is complete when all of them are. The members may be of different kinds and communicators, and
// bundles themselves. While a request is a member its kind is ObjectKind::bundled_request, so that every call of the
// program that takes a request refuses its handle.
//
// A member that cannot be started does not keep the others from being started: their partners count on them. The
// bundle then completes with that error. If no member could be started, start() returns the error.
class Bundle final : public Request {
public:
    // The members are inactive persistent requests of one session. They are the bundle's until it is destroyed.
    // MPI_ERR_REQUEST: there is one twice; MPI_ERR_NO_MEM. Nothing has changed after an error.
    static int make(Progress& waits, std::span<Request* const> members, Bundle** made) noexcept;

    int start() noexcept override;
    int cancel() noexcept override;
    std::string_view refuses_free() const noexcept override;
    std::int32_t references_to_comm() const noexcept override { return _comm ? 1 : 0; }
    std::string_view cause() const noexcept override { return _cause; }

private:
    struct Member {
        Request* request;
        bool started; // in the present round; written by start() before the round can end
    };
    // Counts those members that others complete: pollers, or other threads.
    struct Rest : Continuation {
        using Continuation::Continuation;
        Bundle* bundle = nullptr;
    };

    Bundle(Progress& waits, std::unique_ptr<Member[]> members, std::unique_ptr<Request*[]> checked,
        std::size_t count) noexcept;
    ~Bundle() override = default;

    void check() noexcept override;
    int retire() noexcept override;
    static void rest_is_complete(ReadyItem& item) noexcept;
    void start_members() noexcept;
    void end_members() noexcept;
    void end_round() noexcept;
    void fail(std::size_t member, int code, std::string_view why) noexcept;

    const std::unique_ptr<Member[]> _members;
    const std::unique_ptr<Request*[]> _checked; // those of the round that have to be asked, by check()
    const std::size_t _count;
    std::size_t _checked_count = 0;
    std::size_t _next_checked = 0; // those before it are complete
    std::size_t _started = 0;      // members, in this round
    Rest _rest;
    std::atomic<bool> _rest_complete{false};
    int _failure = MPI_SUCCESS; // the first one of the round
    std::string _cause;         // of it
    Ref<Communicator> _comm;    // that of the first member that has one
};

} // namespace patchbay
