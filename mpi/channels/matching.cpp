// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/matching.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/tags.h"
#include "mpi/channels/channels.h"
#include "mpi/channels/prepared_message.h"
#include "mpi/instance/instance.h"

#include <algorithm>
#include <deque>
#include <string>

namespace patchbay {

// What waits on one communicator: receives, and proposals that none of them accepts. One receive of the pml is posted
// for the next proposal as long as there are receives, so that nothing is posted where no program binds.
class Matching::Table final : PreparedMessage::Owner {
public:
    Table(Matching& owner, Communicator& comm)
        : _owner(owner),
          _comm(Ref<Communicator>::share(&comm)),
          _listening(progress_of(owner, comm), comm, *this),
          _look(progress_of(owner, comm), *this) {}

    // Throws std::bad_alloc. MPI code.
    int add(Receive& receive) {
        _receives.push_back(&receive);
        const int code = _listening.is_under_way() ? MPI_SUCCESS : begin_to_listen();
        if (code != MPI_SUCCESS) {
            _receives.pop_back();
        } else if (_holds_last || !_proposals.empty()) {
            look_soon();
        }
        return code;
    }
    // The table leaves in a poll.
    bool remove(Receive& receive) noexcept {
        const bool removed = std::erase(_receives, &receive) != 0;
        if (_receives.empty()) {
            stop_listening();
            look_soon();
        }
        return removed;
    }
    void stop_listening() noexcept {
        if (_listening.is_under_way()) {
            _listening.cancel();
        }
    }
    bool is_idle() const noexcept {
        return !_listening.is_under_way() && _receives.empty() && _proposals.empty() && !_holds_last && !_posted;
    }

private:
    struct Arrived {
        Proposal proposal;
        int source;
    };

    static Progress& progress_of(Matching& owner, const Communicator& comm) noexcept {
        return comm.progress_or(owner._channels.instance().progress());
    }
    PreparedMessage::What next_proposal() noexcept {
        return {false, &_last.proposal, sizeof _last.proposal, MPI_ANY_SOURCE, chan::proposal_tag};
    }

    // For the first receive: an error is that of its binding, which has not begun.
    int begin_to_listen() noexcept {
        if (_holds_last) {
            return _listening.prepare(next_proposal());
        }
        if (_listening.launch(next_proposal()) == MPI_ERR_NO_MEM) {
            _listening.abandon();
            _listening.release();
            return MPI_ERR_NO_MEM;
        }
        _listening.follow();
        return MPI_SUCCESS;
    }

    // The posted receive has ended.
    void ended(PreparedMessage&) noexcept override {
        Channels& channels = _owner._channels;
        const Channels::Lock lock(channels.mutex());
        if (_listening.lacks_memory() && !channels.is_closing()) {
            _listening.start_again();
            return;
        }
        const int code = _listening.is_cancelled() ? MPI_SUCCESS : _listening.code();
        std::string text;
        if (code != MPI_SUCCESS) {
            text = unless_out_of_memory(std::string(), [&] { return std::string(_listening.cause()); });
        } else if (const MPI_Status* const status = _listening.received()) {
            _holds_last = true;
            _last.source = status->MPI_SOURCE;
        }
        _listening.end();
        if (code != MPI_SUCCESS) {
            fail_all(code, text);
        }
        match();
        go_on();
    }

    void look_soon() noexcept {
        if (!_posted) {
            _posted = true;
            _look.post();
        }
    }
    // There are proposals that a new receive may accept, or that were not stored, or the table is not needed any more.
    void look() noexcept {
        const Channels::Lock lock(_owner._channels.mutex());
        _posted = false;
        match();
        go_on();
    }

    // The receives that come first take the proposals that come first. The last one that has arrived may be where it
    // has been received.
    void match() noexcept {
        for (std::size_t i = 0; i < _receives.size();) {
            Receive& receive = *_receives[i];
            const auto fits = [&receive](const Arrived& one) { return receive.accepts(one.source, one.proposal.tag); };
            const auto found = std::find_if(_proposals.begin(), _proposals.end(), fits);
            const bool takes_last = found == _proposals.end() && _holds_last && fits(_last);
            if (found == _proposals.end() && !takes_last) {
                ++i;
                continue;
            }
            const Arrived taken = takes_last ? _last : *found;
            if (takes_last) {
                _holds_last = false;
            } else {
                _proposals.erase(found);
            }
            _receives.erase(_receives.begin() + std::ptrdiff_t(i));
            receive.match(taken.proposal, taken.source);
        }
    }

    // The table may not exist afterwards.
    void go_on() noexcept {
        if (_receives.empty()) {
            stop_listening();
        } else if (!_listening.is_under_way() && !_owner._channels.is_closing()) {
            if (store_last()) {
                _listening.start(next_proposal());
            } else {
                look_soon(); // the processes that have sent the next ones wait until there is memory
            }
        }
        if (!_listening.is_under_way() && _receives.empty()) {
            _listening.release();
        }
        if (is_idle()) {
            _owner._tables.erase(_comm.get());
        }
    }

    // false: there is no memory for it.
    bool store_last() noexcept {
        _holds_last = _holds_last && !unless_out_of_memory(false, [this] {
            _proposals.push_back(_last);
            return true;
        });
        return !_holds_last;
    }

    void fail_all(int code, const std::string& text) noexcept {
        while (!_receives.empty()) {
            Receive* const receive = _receives.front();
            _receives.pop_front();
            receive->fail(code, text);
        }
    }

    Matching& _owner;
    const Ref<Communicator> _comm;
    PreparedMessage _listening;
    Following<Table, &Table::look> _look;
    Arrived _last{}; // where proposals are received
    bool _holds_last = false;
    std::deque<Receive*> _receives;
    std::deque<Arrived> _proposals;
    bool _posted = false; // _look
};

Matching::Matching(Channels& channels) noexcept
    : _channels(channels) {}

Matching::~Matching() = default;

int Matching::add(Communicator& comm, Receive& receive) noexcept {
    const int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::unique_ptr<Table>& table = _tables[&comm];
        if (table == nullptr) {
            table = std::make_unique<Table>(*this, comm);
        }
        return table->add(receive);
    });
    if (code != MPI_SUCCESS) {
        const auto found = _tables.find(&comm);
        if (found != _tables.end() && (found->second == nullptr || found->second->is_idle())) {
            _tables.erase(found);
        }
    }
    return code;
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
