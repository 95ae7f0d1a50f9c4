// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/pml/ob1/list.h"
#include "components/pml/ob1/message_store.h"
#include "components/pml/ob1/peer.h"
#include "frameworks/pml/pml.h"

#include <cstdint>
#include <cstdlib>

namespace patchbay::pml::ob1 {

class RecvRequest;

// The receives that wait for one source, or for any.
struct PostedList {
    RecvRequest* first;
    RecvRequest* last;

    void push_back(RecvRequest& request) noexcept;
    void erase(RecvRequest& request) noexcept;
    RecvRequest* find(int tag) const noexcept; // the earliest one that takes this tag
};

using SourceQueue = List<Unexpected, &Unexpected::by_source>;
using ArrivalQueue = List<Unexpected, &Unexpected::by_arrival>;

// One rank of a communicator's remote group. Zero-filled: never spoken to.
struct RankState {
    Peer* peer; // as a destination, connected and its index known; nullptr: messages take another way
    PostedList posted;
    SourceQueue unexpected;
    std::uint64_t match_word; // MatchWords::first of a message to it, valid with `peer` or `stranger`
    std::uint16_t index;      // of the communicator at that rank, valid with `peer`
    bool has_our_index;       // we have told it ours, in an answer or in a message
    bool met;                 // a message of its own has named the communicator to us by exCID
    std::uint8_t named;       // messages that we named by exCID to it, modulo 256
    Peer* stranger; // as a destination, connected, while it or we do not know the other's index: then `peer` is null
};

// The matching queues of one communicator. A receive looks among the unexpected messages of its source, or of all in
// order of arrival; a message looks among the receives for its source and the wildcard ones, and the one that was
// posted first wins. Tables over ranks are made of untouched pages, so that a silent peer costs nothing.
class CommState final : public CommData {
public:
    explicit CommState(Communicator& comm) noexcept;
    ~CommState() override { std::free(_ranks); }

    // false: out of memory.
    bool prepare() noexcept { return _ranks != nullptr || make_ranks(); }
    RankState& rank(int rank) noexcept { return _ranks[rank]; } // after prepare()
    // The same before prepare(); nullptr: nothing was sent to anybody yet.
    RankState* find_rank(int rank) const noexcept { return _ranks == nullptr ? nullptr : &_ranks[rank]; }

    void post(RecvRequest& request) noexcept;
    void withdraw(RecvRequest& request) noexcept;
    // Takes out the receive that this message belongs to; nullptr: none.
    RecvRequest* match(int source, int tag) noexcept;

    void keep(Unexpected& message) noexcept; // at the end of its queues
    void remove(Unexpected& message) noexcept;
    // The earliest message that such a receive would get; nullptr: none.
    Unexpected* find(int source, int tag) noexcept;
    Unexpected* find_id(int source, std::uint32_t id) noexcept;
    Unexpected* earliest() noexcept { return _arrivals.first(); }

    Communicator& comm;
    // Of a communicator whose index may differ from process to process; nullptr: it does not.
    const cid::ExtendedId* const name;
    // The communicator's own says that it has none as soon as the program has freed it, perhaps while a packet for it
    // is looked at here. Only to be compared.
    const Session* const session;

private:
    bool make_ranks() noexcept;

    RankState* _ranks = nullptr;
    PostedList _any_source{};
    ArrivalQueue _arrivals;
    std::uint64_t _posts = 0;
};

} // namespace patchbay::pml::ob1
