// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/channels/channels.h"
#include "mpi/channels/matching.h"
#include "mpi/channels/messages.h"
#include "mpi/channels/small_messages.h"

#include <string>
#include <string_view>

namespace patchbay {

// One side of a channel that is being bound (README.md has the messages). It exists until the request that it has
// borrowed is complete.
class PendingBinding final : public Matching::Receive, public Channels::Pending {
public:
    // MPI code; after an error nothing has begun. With the lock of `owner` held.
    static int begin(Channels& owner, const NewChannel& what) noexcept;

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

    int begin_search() noexcept;
    int begin_proposal() noexcept;
    void query_components() noexcept;
    int make_null_channel() noexcept;

    void advance() noexcept;
    void act() noexcept;
    void take_answer() noexcept;
    void take_half() noexcept;

    bool compare_with(const Proposal& proposal) noexcept;
    void choose_component(const Proposal& proposal, SetupMessage& answer) noexcept;
    void set_partner(int peer, int tag, int number) noexcept;
    bool make_channel(const chan::Selector::Candidate& component, SetupMessage& message) noexcept;
    bool connect() noexcept;
    void tell(SetupMessage& message) noexcept;
    void reject(int code, std::string_view text) noexcept;
    void give_handle() noexcept;
    void finish() noexcept;

    Progress& progress() const noexcept;

    Channels& _owner;
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
    Request* _sending = nullptr;
    Request* _receiving = nullptr;
    chan::Channel* _channel = nullptr;
    int _code = MPI_SUCCESS; // with which the binding ends
    std::string _text;
    Following<PendingBinding, &PendingBinding::advance> _next;
};

} // namespace patchbay
