// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/collective_channels.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/progress/waiter.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/channels.h"
#include "mpi/channels/small_messages.h"
#include "mpi/communicators/hints.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay {

namespace {

// The messages of the setup, from each member of a pair to the other one. What concerns single messages is an array:
// first what the sender of the setup message sends, then what it receives, each in the order of the operation.

// The first: how many messages of the operation a member has with the other one.
struct Counts {
    std::uint32_t sends;
    std::uint32_t recvs;
    std::uint32_t wanted; // of these together
};
// The second, if both want any.
struct Proposal {
    std::uint64_t bytes;
    std::int32_t number; // as Link::number
    chan::Selector::Candidates candidates;
};
// The third, of the messages for which there is a component.
struct Half {
    std::uint32_t made;
    std::uint32_t offer_bytes;
    std::byte offer[chan::most_offer_bytes];
};
// The fourth, of the same messages.
using Connected = std::uint8_t;

} // namespace

// One call of bind(). The members exchange all messages of a turn before the next one.
class CollectiveChannels::Setup {
public:
    // Throws std::bad_alloc; afterwards nothing does.
    Setup(CollectiveChannels& owner, Communicator& comm, int tag, std::span<coll::ChannelMessage> messages)
        : _owner(owner),
          _instance(owner._channels.instance()),
          _comm(comm),
          _tag(tag),
          _only(hint(comm, "patchbay_chan")) {
        add_messages(messages);
    }

    void run() noexcept {
        exchange([](Pair& pair) { return Turn{bytes_of(pair.own_counts), bytes_of(pair.counts)}; });
        propose();
        exchange([](Pair& pair) { return turn(pair.own_proposals, pair.proposals, pair.shared()); });
        make_halves();
        exchange([](Pair& pair) { return turn(pair.own_halves, pair.halves, pair.agreed()); });
        connect();
        exchange([](Pair& pair) { return turn(pair.own_connected, pair.connected, pair.agreed()); });
        finish();
    }

private:
    struct Link {
        coll::ChannelMessage* message;
        chan::Binding binding{};
        chan::Channel* channel = nullptr;
        int number = Channels::no_number; // of the binding in this member; none: it does not want a channel
    };
    struct Pair {
        int peer = 0;
        bool failed = false; // no message comes from the peer, or goes there
        std::vector<Link> sends, recvs;
        Counts own_counts{}, counts{};
        std::vector<Proposal> own_proposals, proposals;
        std::vector<Half> own_halves, halves;
        std::vector<Connected> own_connected, connected;
        bool has_agreed = false; // there is a component for one of the messages at least

        Request* sending = nullptr;
        Request* receiving = nullptr;

        // The messages that both members have, if both want channels for any.
        std::size_t shared_sends() const noexcept { return std::min(own_counts.sends, counts.recvs); }
        std::size_t shared_recvs() const noexcept { return std::min(own_counts.recvs, counts.sends); }
        std::size_t shared() const noexcept {
            return own_counts.wanted != 0 && counts.wanted != 0 && !failed ? shared_sends() + shared_recvs() : 0;
        }
        std::size_t agreed() const noexcept { return has_agreed ? shared() : 0; }
        // In the order of the arrays that this member sends, and the index in those of the other one, whose sends are
        // the receives here.
        Link& link(std::size_t i) noexcept { return i < shared_sends() ? sends[i] : recvs[i - shared_sends()]; }
        std::size_t index_there(std::size_t i) const noexcept {
            return i < shared_sends() ? i + shared_recvs() : i - shared_sends();
        }
    };
    // What a member sends to the other one, and where it receives; of 0 bytes there is no message.
    struct Turn {
        std::span<const std::byte> out;
        std::span<std::byte> in;
    };
    template <class T>
    static std::span<std::byte> bytes_of(T& value) noexcept {
        return std::as_writable_bytes(std::span(&value, 1));
    }
    template <class T>
    static Turn turn(std::vector<T>& out, std::vector<T>& in, std::size_t count) noexcept {
        return {std::as_bytes(std::span(out).first(count)), std::as_writable_bytes(std::span(in).first(count))};
    }

    void add_messages(std::span<coll::ChannelMessage> messages);
    template <class Choose>
    void exchange(const Choose& choose) noexcept;
    void begin(Pair& pair, const Turn& turn) noexcept;
    template <class Start>
    void complete(Pair& pair, Request*& request, const Start& start) noexcept;
    template <class Start>
    int started(const Start& start) noexcept;
    void propose() noexcept;
    bool find_candidates(const Link& link, chan::Selector::Candidates& candidates) noexcept;
    void make_halves() noexcept;
    std::optional<chan::Selector::Candidate> choose(
        const Link& link, const Proposal& here, const Proposal& there) noexcept;
    void make_half(Link& link, const chan::Selector::Candidate& name, Half& half) noexcept;
    void connect() noexcept;
    void finish() noexcept;

    CollectiveChannels& _owner;
    Instance& _instance;
    Communicator& _comm;
    const int _tag;
    const std::string _only; // a selection list of components
    std::vector<Pair> _pairs;
};

void CollectiveChannels::Setup::add_messages(std::span<coll::ChannelMessage> messages) {
    for (coll::ChannelMessage& message : messages) {
        auto pair = std::find_if(
            _pairs.begin(), _pairs.end(), [&message](const Pair& one) { return one.peer == message.peer; });
        if (pair == _pairs.end()) {
            pair = _pairs.emplace(_pairs.end());
            pair->peer = message.peer;
        }
        (message.sends ? pair->sends : pair->recvs).push_back({&message});
        ++(message.sends ? pair->own_counts.sends : pair->own_counts.recvs);
        pair->own_counts.wanted += message.wanted;
    }
    for (Pair& pair : _pairs) {
        const std::size_t most = pair.own_counts.wanted == 0 ? 0 : pair.sends.size() + pair.recvs.size();
        pair.own_proposals.resize(most);
        pair.proposals.resize(most);
        pair.own_halves.resize(most);
        pair.halves.resize(most);
        pair.own_connected.resize(most);
        pair.connected.resize(most);
    }
}

template <class Choose>
void CollectiveChannels::Setup::exchange(const Choose& choose) noexcept {
    for (Pair& pair : _pairs) {
        if (!pair.failed) {
            begin(pair, choose(pair));
        }
    }
    for (Pair& pair : _pairs) {
        if (pair.receiving == nullptr && pair.sending == nullptr) {
            continue;
        }
        const Turn turn = choose(pair);
        complete(pair, pair.receiving,
            [&] { return receive_bytes(turn.in.data(), turn.in.size(), pair.peer, _tag, _comm, &pair.receiving); });
        complete(pair, pair.sending,
            [&] { return send_bytes(turn.out.data(), turn.out.size(), pair.peer, _tag, _comm, &pair.sending); });
    }
}

// A message that has ended because memory was short has not been sent, or not been received: it is started again, since
// the other member counts on it.
template <class Start>
void CollectiveChannels::Setup::complete(Pair& pair, Request*& request, const Start& start) noexcept {
    int code = MPI_SUCCESS;
    while (request != nullptr) {
        wait_until(_instance.progress(), [&request] { return request->is_complete(); });
        code = error_of(request);
        drop(request);
        if (code == MPI_ERR_NO_MEM) {
            code = started(start);
        }
    }
    pair.failed = pair.failed || code != MPI_SUCCESS;
}

void CollectiveChannels::Setup::begin(Pair& pair, const Turn& turn) noexcept {
    if (turn.out.empty()) {
        return;
    }
    int code =
        started([&] { return receive_bytes(turn.in.data(), turn.in.size(), pair.peer, _tag, _comm, &pair.receiving); });
    if (code == MPI_SUCCESS) {
        code = started(
            [&] { return send_bytes(turn.out.data(), turn.out.size(), pair.peer, _tag, _comm, &pair.sending); });
    }
    if (code != MPI_SUCCESS) {
        pair.failed = true;
        if (pair.receiving != nullptr) {
            pair.receiving->cancel(); // nothing comes from where nothing can be sent
        }
    }
}

// Where memory is short it is tried again, because the other member waits for the message.
template <class Start>
int CollectiveChannels::Setup::started(const Start& start) noexcept {
    int code = start();
    while (code == MPI_ERR_NO_MEM) {
        _instance.progress().poll();
        code = start();
    }
    return code;
}

void CollectiveChannels::Setup::propose() noexcept {
    for (Pair& pair : _pairs) {
        for (std::size_t i = 0; i < pair.shared(); ++i) {
            Link& link = pair.link(i);
            Proposal& proposal = pair.own_proposals[i];
            const coll::ChannelMessage& message = *link.message;
            link.binding = binding_of_message(
                message.sends, message.buffer, message.count, *message.type, message.peer, _tag, _comm);
            if (find_candidates(link, proposal.candidates)) {
                link.number = _owner.take_number();
            }
            proposal.bytes = link.binding.bytes;
            proposal.number = link.number;
        }
    }
}

// Whether this member wants a channel, and by which components.
bool CollectiveChannels::Setup::find_candidates(const Link& link, chan::Selector::Candidates& candidates) noexcept {
    if (!link.message->wanted) {
        return false;
    }
    return unless_out_of_memory(false, [&] {
        if (!_instance.open_chan() || !_instance.chan_selector().query(_instance, link.binding, _only, &candidates)) {
            return false;
        }
        const chan::Faster kinds =
            link.message->combined ? chan::Faster::alone : chan::Faster::alone | chan::Faster::among_others;
        return keep_used(_instance, _owner._use, kinds, link.binding, candidates);
    });
}

// Both members choose alike. A member that cannot make its half says so in it.
void CollectiveChannels::Setup::make_halves() noexcept {
    for (Pair& pair : _pairs) {
        for (std::size_t i = 0; i < pair.shared(); ++i) {
            Link& link = pair.link(i);
            const Proposal& there = pair.proposals[pair.index_there(i)];
            const auto chosen = choose(link, pair.own_proposals[i], there);
            if (chosen) {
                pair.has_agreed = true;
                link.binding.tag_here = chan::component_tag(link.number);
                link.binding.tag_there = chan::component_tag(there.number);
                make_half(link, *chosen, pair.own_halves[i]);
            }
        }
    }
}

// Nothing: there is to be no channel.
std::optional<chan::Selector::Candidate> CollectiveChannels::Setup::choose(
    const Link& link, const Proposal& here, const Proposal& there) noexcept {
    if (here.number == Channels::no_number || there.number == Channels::no_number || here.bytes != there.bytes) {
        return std::nullopt;
    }
    const auto& receiver = link.message->sends ? there.candidates : here.candidates;
    const auto& sender = link.message->sends ? here.candidates : there.candidates;
    if (_instance.core().decisions.enabled()) {
        unless_out_of_memory(false, [&] {
            return bool(_instance.chan_selector().choose(_instance, link.binding, receiver, sender)); // records it
        });
    }
    return chan::Selector::best_of(receiver, sender);
}

void CollectiveChannels::Setup::make_half(Link& link, const chan::Selector::Candidate& name, Half& half) noexcept {
    chan::Component* const component = _instance.chan_selector().find(name);
    std::size_t used = 0;
    auto made = component->create(_instance, link.binding, half.offer, &used);
    if (!made || *made == nullptr) {
        return;
    }
    chan::Channel& channel = **made;
    channel.belong_to_operation();
    half.offer_bytes = std::uint32_t(used);
    half.made = used > sizeof half.offer ? 0u : unless_out_of_memory(0u, [&] {
        _instance.bound_channels().add(channel);
        return 1u;
    });
    if (half.made != 0) {
        link.channel = &channel;
    } else {
        Channels::end(channel);
    }
}

void CollectiveChannels::Setup::connect() noexcept {
    for (Pair& pair : _pairs) {
        for (std::size_t i = 0; i < pair.agreed(); ++i) {
            Link& link = pair.link(i);
            const Half& there = pair.halves[pair.index_there(i)];
            pair.own_connected[i] = pair.own_halves[i].made != 0 && there.made != 0 &&
                there.offer_bytes <= sizeof there.offer &&
                link.channel->connect(std::span(there.offer).first(there.offer_bytes)) == MPI_SUCCESS;
        }
    }
}

// What is not connected on both sides is given up on both.
void CollectiveChannels::Setup::finish() noexcept {
    for (Pair& pair : _pairs) {
        for (std::size_t i = 0; i < pair.agreed(); ++i) {
            if (pair.own_connected[i] != 0 && pair.connected[pair.index_there(i)] != 0) {
                Link& link = pair.link(i);
                link.message->channel = std::exchange(link.channel, nullptr);
                link.number = Channels::no_number;
            }
        }
        for (auto* links : {&pair.sends, &pair.recvs}) {
            for (Link& link : *links) {
                if (link.channel != nullptr) {
                    _owner._channels.release(*link.channel);
                }
                _owner.give_back_number(link.number);
            }
        }
    }
}

int CollectiveChannels::bind(Communicator& comm, int tag, std::span<coll::ChannelMessage> messages) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        Setup(*this, comm, tag, messages).run();
        return MPI_SUCCESS;
    });
}

void CollectiveChannels::unbind(chan::Channel& channel) noexcept {
    const int number = chan::number_of_component_tag(channel.binding().tag_here);
    _channels.release(channel);
    give_back_number(number);
}

int CollectiveChannels::take_number() noexcept {
    const Channels::Lock lock(_channels.mutex());
    const int number = _count < _most ? _channels.take_number() : int(Channels::no_number);
    _count += number != Channels::no_number;
    return number;
}

void CollectiveChannels::give_back_number(int number) noexcept {
    const Channels::Lock lock(_channels.mutex());
    _count -= number != Channels::no_number;
    _channels.give_back_number(number);
}

} // namespace patchbay
