// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/message_store.h"
#include "components/pml/ob1/peer.h"
#include "core/base/list.h"
#include "frameworks/pml/pml.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace patchbay::pml::ob1 {

class RecvRequest;

// The posted receives for one source, or for MPI_ANY_SOURCE.
struct PostedList {
    RecvRequest* first;
    RecvRequest* last;

    void push_back(RecvRequest& request) noexcept;
    void erase(RecvRequest& request) noexcept;
    RecvRequest* find(int tag) const noexcept; // the earliest one that takes this tag
    std::uint64_t length() const noexcept;
};

using SourceQueue = List<Unexpected, &Unexpected::by_source>;
using ArrivalQueue = List<Unexpected, &Unexpected::by_arrival>;

// One rank of a communicator's remote group. Zero-filled: no message was sent to it or received from it.
struct RankState {
    // As a destination: connected, and no exCID handshake with it is needed any more. nullptr: see handshake_peer.
    Peer* peer;
    PostedList posted;
    SourceQueue unexpected;
    std::uint64_t match_word;   // MatchWords::first of a message to it, valid with `peer` or `handshake_peer`
    std::uint16_t index;        // of the communicator at that rank, valid with `peer`
    bool index_sent;            // our index: in a CID acknowledgement or in a message
    bool extended_received;     // a message with an extended header has come from it
    std::uint8_t extended_sent; // number of messages with an extended header to it, modulo 256
    // As a destination: connected, while the exCID handshake with it is not complete; `peer` is nullptr meanwhile.
    Peer* handshake_peer;
};

// Why no operation on a communicator can succeed any more.
struct Failure {
    int code = MPI_SUCCESS; // MPI_SUCCESS: operations can succeed
    std::uint32_t by = 0;   // the process that could not construct the communicator: its rank in its job

    bool happened() const noexcept { return code != MPI_SUCCESS; }
    // For the user. Valid until the next call in this thread.
    std::string_view text() const noexcept;
};

// The matching queues of one communicator. A receive searches the unexpected messages of its source, or of all sources
// in order of arrival; a message searches the posted receives for its source and those for MPI_ANY_SOURCE, of which it
// matches the one that was posted first. A table over ranks is made of pages that stay untouched for ranks that
// exchange no message.
class CommState final : public CommData {
public:
    explicit CommState(Communicator& comm) noexcept;
    ~CommState() override { std::free(_table); }

    // false: no message can be sent or received, and error() is why.
    bool prepare() noexcept { return _ranks != nullptr || make_ranks(); }
    bool is_prepared() const noexcept { return _ranks != nullptr; }
    // The MPI code after prepare() has returned false: the failure, or out of memory.
    int error() const noexcept { return failure.happened() ? failure.code : MPI_ERR_NO_MEM; }
    RankState& rank(int rank) noexcept { return _table[rank]; } // after prepare() has returned true once
    // nullptr: no message was sent or received yet, or there is a failure.
    RankState* find_rank(int rank) const noexcept { return _ranks == nullptr ? nullptr : &_ranks[rank]; }
    // Does the communicator have the source of this message, and no failure? If it has no such source, that is
    // reported. Prepares; false, too, if memory runs out, and then it is not prepared.
    bool has_source(const MatchHeader& match) noexcept {
        if (!prepare()) {
            return false;
        }
        if (std::uint32_t(match.source) < std::uint32_t(comm.remote_size)) [[likely]] {
            return true;
        }
        report_source(match);
        return false;
    }

    void post(RecvRequest& request) noexcept;
    void withdraw(RecvRequest& request) noexcept;
    // Removes the posted receive that such a message matches, and returns it; nullptr: none.
    RecvRequest* match(int source, int tag) noexcept;

    void add(Unexpected& message) noexcept; // at the end of its queues
    void remove(Unexpected& message) noexcept;
    // The earliest message that a receive with these arguments would match; nullptr: none.
    Unexpected* find(int source, int tag) noexcept;
    Unexpected* find_id(int source, std::uint32_t id) noexcept;
    Unexpected* earliest() noexcept { return _arrivals.first(); }
    // For tools: each walks the queues.
    std::uint64_t unexpected_length() const noexcept;
    std::uint64_t posted_length() const noexcept;
    // The posted receives that are not of the library, as many as fit. Returns how many there are.
    std::size_t list_posted(std::span<UnfinishedMessage> into) const noexcept;

    // From now on prepare() returns false, and no message can be sent directly. What is posted or has arrived stays
    // where it is.
    void fail(const Failure& failure) noexcept;
    // Removes a posted receive for this source, or for MPI_ANY_SOURCE, and returns it; nullptr: none is left.
    RecvRequest* take_posted(int source) noexcept;
    bool has_table() const noexcept { return _table != nullptr; }

    Communicator& comm;
    // The exCID of a communicator whose index may differ from process to process; nullptr: it does not differ.
    const cid::ExtendedId* const excid;
    // Only to be compared. Communicator::session is not used here, because it becomes nullptr as soon as the program
    // has freed the communicator, perhaps while a packet for the communicator is processed.
    const Session* const session;

private:
    bool make_ranks() noexcept;
    void report_source(const MatchHeader& match) const noexcept;

    RankState* _table = nullptr; // by rank; nullptr until the first message
    RankState* _ranks = nullptr; // the same, but nullptr after a failure: the hot paths test nothing else
    PostedList _any_source{};
    ArrivalQueue _arrivals;
    std::uint64_t _posts = 0;

public: // behind what the hot paths use
    Failure failure;
    // After a failure: the number of refusal_acks that are to come, and the request that holds a reference to the
    // communicator until then, so that its index is not used again; nullptr: none.
    int unanswered = 0;
    RecvRequest* holder = nullptr;
    Link<CommState> failed_link; // in the list of Refusals, after a failure
};

inline CommState& state_of(const Communicator& comm) noexcept {
    return static_cast<CommState&>(*comm.pml_data);
}

} // namespace patchbay::pml::ob1
