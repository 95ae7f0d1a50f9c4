// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/call_exchange.h"

#include "frameworks/coll/tags.h"
#include "frameworks/pml/pml.h"
#include "mpi/check/call_record.h"
#include "mpi/check/finding.h"

#include <fmt/core.h>

namespace patchbay::check {

std::shared_ptr<CallExchange> CallExchange::begin(Progress& waits, Communicator& comm, std::vector<std::byte> record) {
    const std::shared_ptr<CallExchange> made(new CallExchange(waits, comm, std::move(record)));
    made->_self = made;
    made->begin_messages();
    return made;
}

CallExchange::CallExchange(Progress& waits, Communicator& comm, std::vector<std::byte> record)
    : Continuation(waits,
          [](ReadyItem& item) noexcept {
              auto& exchange = static_cast<CallExchange&>(item);
              exchange.release_messages();
              exchange.run_next();
          }),
      _called(comm),
      _comm(comm.is_inter ? *comm.local_comm : comm),
      _reference(comm.is_predefined() ? Ref<Communicator>() : Ref<Communicator>::share(&comm)),
      _record(std::move(record)),
      _longest(longest_record(_comm)) {
    const std::size_t members = _comm.rank == 0 ? std::size_t(_comm.size) : 1;
    _messages.reserve(members + 1);
    if (_comm.rank == 0) {
        _records.resize(members * _longest);
        _sizes.resize(members, 0);
    }
}

void CallExchange::begin_messages() noexcept {
    open();
    if (_comm.rank == 0) {
        for (int rank = 1; rank < _comm.size; ++rank) {
            receive(_records.data() + std::size_t(rank) * _longest, _longest, rank);
        }
    } else {
        send(_record.data(), _record.size(), 0);
        receive(&_code, sizeof _code, 0);
    }
    if (close()) {
        release_messages();
        run_next();
    }
}

void CallExchange::run_next() noexcept {
    if (_comm.rank != 0 || _compared) {
        end();
        return;
    }
    _compared = true;
    compare_all();
    begin_results();
}

void CallExchange::begin_results() noexcept {
    open();
    for (int rank = 1; rank < _comm.size; ++rank) {
        send(&_code, sizeof _code, rank);
    }
    if (close()) {
        release_messages();
        end();
    }
}

// A member that has failed has sent no record: the collective itself reports that.
void CallExchange::compare_all() noexcept {
    unless_exhausted([&] {
        std::vector<std::span<const std::byte>> all{_record};
        for (int rank = 1; rank < _comm.size; ++rank) {
            const std::size_t size = _sizes[std::size_t(rank)];
            if (size < sizeof(CallRecord)) {
                return;
            }
            all.emplace_back(_records.data() + std::size_t(rank) * _longest, size);
        }
        const Difference difference = compare(all, _called.is_inter);
        _code = difference.code;
        if (_code != MPI_SUCCESS) {
            print_finding("collectives", fmt::format("on {}, {}", _called.describe(), difference.text));
        }
    });
}

void CallExchange::send(const void* data, std::size_t size, int to) noexcept {
    Request* message = nullptr;
    const int code = _comm.pml->isend(data, MPI_Count(size), *to_object<Datatype>(MPI_BYTE), to, coll::call_check_tag,
        pml::SendMode::standard, _comm, &message);
    watch(code, message);
}

void CallExchange::receive(void* data, std::size_t size, int from) noexcept {
    Request* message = nullptr;
    const int code = _comm.pml->irecv(
        data, MPI_Count(size), *to_object<Datatype>(MPI_BYTE), from, coll::call_check_tag, _comm, &message);
    watch(code, message);
}

void CallExchange::watch(int code, Request* message) noexcept {
    if (code == MPI_SUCCESS) {
        message->attach(*this);
        _messages.push_back(message); // there is room
    }
}

void CallExchange::release_messages() noexcept {
    for (Request* const message : _messages) {
        const int from = message->status.MPI_SOURCE;
        if (!_compared && _comm.rank == 0 && message->error == MPI_SUCCESS && from > 0 && from < _comm.size) {
            _sizes[std::size_t(from)] = std::size_t(status_bytes(message->status));
        }
        message->recycle();
    }
    _messages.clear();
}

void CallExchange::notify(coll::Completion& done) noexcept {
    if (has_ended()) {
        done.end(_code);
    } else {
        _waiting = &done;
    }
}

void CallExchange::end() noexcept {
    const std::shared_ptr<CallExchange> self = std::move(_self);
    _reference.reset();
    _ended.store(true, std::memory_order_release);
    if (_waiting != nullptr) {
        _waiting->end(_code);
    }
}

} // namespace patchbay::check
