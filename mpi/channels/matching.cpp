// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/matching.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/channels.h"
#include "mpi/channels/small_messages.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <deque>
#include <string>

namespace patchbay {

// What waits on one communicator: receives, and proposals that none of them accepts. One receive of the pml is posted
// for the next proposal as long as there are receives, so that nothing is posted where no program binds.
class Matching::Table {
public:
    Table(Matching& owner, Communicator& comm)
        : _owner(owner),
          _comm(Ref<Communicator>::share(&comm)),
          _next(progress_of(owner, comm), *this),
          _look(progress_of(owner, comm), *this) {}

    int add(Receive& receive) {
        _receives.push_back(&receive);
        const int code = listen();
        if (code != MPI_SUCCESS) {
            _receives.pop_back();
        } else if (!_proposals.empty()) {
            if (!_posted) {
                _posted = true;
                _look.post();
            }
        }
        return code;
    }
    bool remove(Receive& receive) noexcept {
        const auto removed = std::erase(_receives, &receive);
        if (_receives.empty()) {
            stop_listening();
        }
        return removed != 0;
    }
    void stop_listening() noexcept {
        if (_listening != nullptr) {
            _listening->cancel();
        }
    }
    bool is_idle() const noexcept {
        return _listening == nullptr && _receives.empty() && _proposals.empty() && !_posted;
    }

private:
    struct Arrived {
        Proposal proposal;
        int source;
    };

    static Progress& progress_of(Matching& owner, const Communicator& comm) noexcept {
        return comm.progress_or(owner._channels.instance().progress());
    }

    int listen() noexcept {
        if (_listening != nullptr || _receives.empty() || _owner._channels.is_closing()) {
            return MPI_SUCCESS;
        }
        const int code =
            receive_bytes(&_incoming, sizeof _incoming, MPI_ANY_SOURCE, chan::proposal_tag, *_comm, &_listening);
        if (code == MPI_SUCCESS) {
            _next.follow(_listening, nullptr);
        }
        return code;
    }

    // The posted receive has ended.
    void arrive() noexcept {
        Channels& channels = _owner._channels;
        const Channels::Lock lock(channels.mutex());
        const bool cancelled = status_cancelled(_listening->status);
        int code = _listening->error;
        std::string text;
        if (code != MPI_SUCCESS) {
            text = unless_out_of_memory(std::string(), [&] { return std::string(_listening->cause()); });
        } else if (!cancelled) {
            code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
                _proposals.push_back({_incoming, _listening->status.MPI_SOURCE});
                return MPI_SUCCESS;
            });
        }
        drop(_listening);
        if (code == MPI_SUCCESS) {
            code = listen();
        }
        if (code != MPI_SUCCESS) {
            fail_all(code, text);
        }
        match();
        leave_if_idle();
    }

    // There are proposals that a new receive may accept.
    void look() noexcept {
        Channels& channels = _owner._channels;
        const Channels::Lock lock(channels.mutex());
        _posted = false;
        match();
        leave_if_idle();
    }

    // The receives that come first take the proposals that come first.
    void match() noexcept {
        for (std::size_t i = 0; i < _receives.size();) {
            Receive& receive = *_receives[i];
            const auto found = std::find_if(_proposals.begin(), _proposals.end(),
                [&](const Arrived& one) { return receive.accepts(one.source, one.proposal.tag); });
            if (found == _proposals.end()) {
                ++i;
                continue;
            }
            const Arrived taken = *found;
            _proposals.erase(found);
            _receives.erase(_receives.begin() + std::ptrdiff_t(i));
            receive.match(taken.proposal, taken.source);
        }
        if (_receives.empty()) {
            stop_listening();
        }
    }

    void fail_all(int code, const std::string& text) noexcept {
        while (!_receives.empty()) {
            Receive* const receive = _receives.front();
            _receives.pop_front();
            receive->fail(code, text);
        }
    }

    // The table may not exist afterwards.
    void leave_if_idle() noexcept {
        if (is_idle()) {
            _owner._tables.erase(_comm.get());
        }
    }

    Matching& _owner;
    const Ref<Communicator> _comm;
    Following<Table, &Table::arrive> _next;
    Following<Table, &Table::look> _look;
    Request* _listening = nullptr;
    Proposal _incoming{};
    std::deque<Receive*> _receives;
    std::deque<Arrived> _proposals;
    bool _posted = false; // _look
};

Matching::Matching(Channels& channels) noexcept
    : _channels(channels) {}

Matching::~Matching() = default;

int Matching::add(Communicator& comm, Receive& receive) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::unique_ptr<Table>& table = _tables[&comm];
        if (table == nullptr) {
            table = std::make_unique<Table>(*this, comm);
        }
        const int code = table->add(receive);
        if (code != MPI_SUCCESS && table->is_idle()) {
            _tables.erase(&comm);
        }
        return code;
    });
}

bool Matching::remove(Communicator& comm, Receive& receive) noexcept {
    const auto found = _tables.find(&comm);
    return found != _tables.end() && found->second->remove(receive);
}

void Matching::give_up() noexcept {
    for (auto& [comm, table] : _tables) {
        table->stop_listening();
    }
}

} // namespace patchbay
