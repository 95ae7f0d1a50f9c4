// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/chan/chan.h"
#include "mpi/channels/channel_use.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Instance;
class Matching;

// What a program passes to bind one request.
struct NewChannel {
    Request* in;                    // an inactive persistent send or receive, whose bound() is true
    MPI_Request* out;               // of the program; nullptr: the channel is a part of an operation
    std::uint32_t slackness;        // 1 to chan::most_slackness
    MPI_Aint increment_bytes;       // between successive starts
    std::string component;          // info key patchbay_chan; empty: none
    std::string_view function = {}; // of MPI, for the check of handles that are never freed
    Request** channel = nullptr;    // in place of `out`
    ChannelUse use = ChannelUse::all;

    bool is_of_operation() const noexcept { return channel != nullptr; }
};

// The channels of one instance that are being bound, and those being unbound. Functions may be called on any thread,
// and do not block.
class Channels {
public:
    // Something under way here, which the library can give up when it goes down.
    class Pending {
    public:
        virtual void give_up() noexcept = 0;

    protected:
        ~Pending() = default;
    };

    explicit Channels(Instance& instance);
    ~Channels();
    Channels(const Channels&) = delete;
    Channels& operator=(const Channels&) = delete;

    // MPIX_Ibind_channels and the like: borrows each `in`, which completes when the binding has ended on this side. Its
    // status has the rank and the tag of the other side. *out is the null handle until then, and after an error. After
    // an MPI code other than MPI_SUCCESS none of them has begun, and *failed is the index of the one that could not.
    // Each error that comes later comes on both sides. Where memory is short for a message, it is sent when there is
    // some again.
    int bind(std::span<const NewChannel> all, std::size_t* failed) noexcept;
    int bind(const NewChannel& what) noexcept;
    // The text of the error with which the binding of a borrowed request has ended.
    std::string_view cause_of(const Request& in) noexcept;
    // MPIX_Iunbind_channels: each inactive bound request becomes active, and is released by the completing call. After
    // an MPI code other than MPI_SUCCESS none of them has begun; *failed as in bind().
    int unbind(std::span<chan::Channel* const> all, std::size_t* failed) noexcept;
    // Ends an inactive channel of an operation, in this process, without regard to the other side. end(): one that is
    // not among the bound ones.
    void release(chan::Channel& channel) noexcept;
    static void end(chan::Channel& channel) noexcept;

    // Ends the channels of a session that the program has not unbound, in this process only (nullptr: of the world
    // model).
    void abandon(const Session* session) noexcept;
    // The same for all, and gives up what is under way: after that, polls until the ready list is empty end it.
    void close() noexcept;

    // For what is under way. All of it is done with the lock held, which a thread may take again.
    using Lock = std::lock_guard<std::recursive_mutex>;
    std::recursive_mutex& mutex() noexcept { return _mutex; }
    Instance& instance() noexcept { return _instance; }
    Matching& matching() noexcept { return *_matching; }
    static constexpr int no_number = -1;
    int take_number() noexcept; // no_number: there are none, or memory is exhausted
    void give_back_number(int number) noexcept;
    bool is_closing() const noexcept { return _closing; }
    void add(Pending& pending) { _pending.push_back(&pending); } // throws std::bad_alloc
    void remove(Pending& pending) noexcept;
    void note_text(const Request& in, std::string_view text) noexcept;

private:
    void end_locally(chan::Channel& channel) noexcept;

    Instance& _instance;
    std::recursive_mutex _mutex; // protects the rest
    std::unique_ptr<Matching> _matching;
    std::vector<int> _free_numbers;
    int _next_number = 0;
    std::vector<Pending*> _pending;
    std::map<const Request*, std::string> _texts;
    bool _closing = false;
};

} // namespace patchbay
