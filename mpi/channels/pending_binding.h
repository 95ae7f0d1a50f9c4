// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/channels.h"
#include "mpi/channels/matching.h"
#include "mpi/channels/messages.h"
#include "mpi/channels/prepared_message.h"
#include "mpi/channels/small_messages.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace patchbay {

// One side of a channel that is being bound (README.md has the messages). It exists until the request that it has
// borrowed is complete. It takes what it needs for its messages before it begins, so that each failure that follows
// reaches the other side.
class PendingBinding final : public Matching::Receive, public Channels::Pending, PreparedMessage::Owner {
public:
    // MPI code; after an error none of them has begun, and *failed is the index of the one to which it belongs. With
    // the lock of `owner` held.
    static int begin(Channels& owner, std::span<const NewChannel> all, std::size_t* failed) noexcept;

    bool accepts(int source, int tag) const noexcept override;
    void match(const Proposal& proposal, int source) noexcept override;
    void fail(int code, std::string_view text) noexcept override;
    void give_up() noexcept override;

private:
    enum class Step : std::uint8_t {
        null,    // MPI_PROC_NULL: nothing to do
        search,  // the side that receives: no proposal has matched
        propose, // the side that sends: waits for the answer to its proposal
        answer,  // the side that receives: has sent its half, waits for the other one
        confirm, // the side that sends: has sent its half, waits until the other side is connected
        end,     // has sent its last message
    };

    PendingBinding(Channels& owner, const NewChannel& what);
    ~PendingBinding() = default;

    // Nothing has been sent before begin(). MPI codes; after an error undo() follows.
    static int prepare(Channels& owner, const NewChannel& what, PendingBinding** made) noexcept;
    int prepare() noexcept;
    int prepare_null_channel() noexcept;
    int prepare_search() noexcept;
    int prepare_proposal() noexcept;
    static int send_proposals(PendingBinding* first, std::size_t* failed) noexcept;
    void begin() noexcept;
    void undo() noexcept;
    int query_components() noexcept;
    PreparedMessage::What setup_message(int source) noexcept;

    void ended(PreparedMessage& message) noexcept override;
    void run() noexcept;
    void act() noexcept;
    void take_answer() noexcept;
    void take_half() noexcept;

    bool compare_with(const Proposal& proposal) noexcept;
    void choose_component(const Proposal& proposal) noexcept;
    void set_partner(int peer, int tag, int number) noexcept;
    bool make_channel(const chan::Selector::Candidate& component) noexcept;
    bool connect() noexcept;
    void tell() noexcept;
    void shorten() noexcept;
    void reject(int code, std::string_view text) noexcept;
    void stop_receiving() noexcept;
    void give_handle() noexcept;
    void end_channel() noexcept;
    void finish() noexcept;

    Progress& progress() const noexcept;

    Channels& _owner;
    PendingBinding* _following = nullptr; // of the same call, until all have begun
    Request& _in;
    MPI_Request* const _out;    // of the program; null where there is _operation
    Request** const _operation; // where an operation has its channel
    const ChannelUse _use;
    const Ref<Communicator> _comm;
    const std::string _only; // a selection list of components
    const std::string _function;
    chan::Binding _what;
    int _number = Channels::no_number;         // of the binding in this process
    int _partner_number = Channels::no_number; // and in the other one
    Step _step = Step::null;
    chan::Selector::Candidates _candidates{};
    std::string _why_no_candidate;
    Proposal _proposal{};
    SetupMessage _outgoing{}; // while it is sent
    SetupMessage _incoming{};
    PreparedMessage _sending;
    PreparedMessage _receiving;
    chan::Channel* _channel = nullptr;
    int _code = MPI_SUCCESS; // with which the binding ends
    std::string _text;
    Following<PendingBinding, &PendingBinding::run> _next; // where no message is under way
};

} // namespace patchbay
