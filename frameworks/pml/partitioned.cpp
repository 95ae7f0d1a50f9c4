// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pml/partitioned.h"

#include "core/base/out_of_memory.h"
#include "core/base/round_up.h"
#include "core/progress/progress.h"
#include "frameworks/pml/message_binder.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_tags.h"
#include "object/error_cause.h"

#include <fmt/core.h>
#include <mutex>
#include <numeric>
#include <utility>

namespace patchbay::pml {

PartitionedPlan PartitionedPlan::make(
    int partitions, std::int64_t bytes, std::int64_t element, std::int64_t least) noexcept {
    const PartitionedPlan one_message{std::max(partitions, 1), 1};
    if (partitions <= 1 || bytes == 0) {
        return one_message;
    }
    const std::int64_t multiple = element / std::gcd(bytes, element);
    const std::int64_t wanted = std::max<std::int64_t>(least / bytes + (least % bytes != 0), 1);
    if (wanted > partitions || multiple > partitions) {
        return one_message;
    }
    const std::int64_t group = round_up(wanted, multiple);
    const std::int64_t messages = partitions / group;
    return messages <= 1 ? one_message : PartitionedPlan{std::int32_t(group), std::int32_t(messages)};
}

Partitioned::Partitioned(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& on) noexcept
    : _engine(engine),
      _what(what),
      _comm(Ref<Communicator>::share(&on)),
      _type(Ref<Datatype>::share(const_cast<Datatype*>(what.type))),
      _partition_bytes(std::int64_t(what.count) * what.type->size),
      _round(on.progress_or(engine.progress()), *this),
      _after_bindings(on.progress_or(engine.progress()), *this) {
    belong_to(on);
    progress = &on.progress_or(engine.progress());
    persistent = true;
    fill_empty_status(status);
}

Partitioned::~Partitioned() = default;

int Partitioned::cancel() noexcept {
    return note_cause(MPI_ERR_REQUEST, "partitioned communication cannot be cancelled");
}

std::string_view Partitioned::cause() const noexcept {
    if (_failure != MPI_SUCCESS) {
        return _text;
    }
    for (int i = 0; i < _made; ++i) {
        const Request& message = *_messages[i].request;
        if (message.is_complete() && message.error != MPI_SUCCESS) {
            return message.cause();
        }
    }
    return {};
}

int Partitioned::send_setup(const void* data, std::size_t size, int tag, Request** request) noexcept {
    return began_setup(comm->pml->isend(data, MPI_Count(size), *to_object<Datatype>(MPI_BYTE), _what.peer, tag,
                           SendMode::standard, *comm, request),
        request);
}

int Partitioned::receive_setup(void* data, std::size_t size, int tag, Request** request) noexcept {
    return began_setup(
        comm->pml->irecv(data, MPI_Count(size), *to_object<Datatype>(MPI_BYTE), _what.peer, tag, *comm, request),
        request);
}

// A message that has failed at once has not begun.
int Partitioned::began_setup(int code, Request** request) noexcept {
    if (code != MPI_SUCCESS) {
        return code;
    }
    if ((*request)->is_complete() && (*request)->error != MPI_SUCCESS) {
        const int failed = note_cause((*request)->error, (*request)->cause());
        drop(*request);
        return failed;
    }
    return MPI_SUCCESS;
}

int Partitioned::make_message(int i, int first_tag, Elements elements) noexcept {
    const int tag = partitioned_tag(first_tag + i);
    void* const data = at(elements.first);
    Request** const made = &_messages[i].request;
    const int code = _what.sends
        ? comm->pml->send_init(data, elements.count, *_what.type, _what.peer, tag, SendMode::standard, *comm, made)
        : comm->pml->recv_init(data, elements.count, *_what.type, _what.peer, tag, *comm, made);
    if (code == MPI_SUCCESS) {
        ++_made;
        _references.fetch_add((*made)->references_to_comm(), std::memory_order_relaxed);
    }
    return code;
}

void Partitioned::drop(Request*& request) noexcept {
    Request* dropped;
    {
        const std::lock_guard lock(comm->mutex);
        dropped = std::exchange(request, nullptr);
    }
    if (dropped != nullptr) {
        dropped->recycle();
    }
}

// A complete request of the setup is counted by the communicator (Communicator::complete_references).
std::int32_t Partitioned::references_to_comm() const noexcept {
    const std::int32_t references = _references.load(std::memory_order_relaxed);
    const bool waits = _setup_request != nullptr && !_setup_request->is_complete();
    return references + (waits ? _setup_request->references_to_comm() : 0);
}

void Partitioned::release_messages() noexcept {
    while (_made > 0) {
        const Message& message = _messages[--_made];
        _references.fetch_sub(message.request->references_to_comm(), std::memory_order_relaxed);
        if (message.by_channel) {
            _engine.binder()->unbind(*message.request);
        } else {
            message.request->recycle();
        }
    }
}

void Partitioned::end_messages() noexcept {
    for (int i = 0; i < _made; ++i) {
        Request& message = *_messages[i].request;
        if (message.is_active()) {
            message.end_start();
        }
    }
}

void Partitioned::open_round() noexcept {
    _start_error.store(MPI_SUCCESS, std::memory_order_relaxed);
    error = MPI_SUCCESS;
    ++_round_number;
    _next_look = 0;
    _round.open();
    if (_channels.load(std::memory_order_relaxed) != 0) {
        _round.count_up(); // for look()
    }
    set_active();
}

void Partitioned::start_message(int i) noexcept {
    Message& message = _messages[i];
    const int code = message.request->start();
    if (code != MPI_SUCCESS) {
        fail_start(code);
    }
    if (message.by_channel) {
        message.started.store(_round_number, std::memory_order_release);
    } else if (code == MPI_SUCCESS) {
        message.request->attach(_round);
    }
}

int Partitioned::result() const noexcept {
    if (const int code = _start_error.load(std::memory_order_relaxed); code != MPI_SUCCESS) {
        return code;
    }
    for (int i = 0; i < _made; ++i) {
        if (const int code = _messages[i].request->error; code != MPI_SUCCESS) {
            return code;
        }
    }
    return MPI_SUCCESS;
}

void Partitioned::end_round() noexcept {
    error = _failure != MPI_SUCCESS ? _failure : result();
    Progress& waits = *progress; // this object may not exist afterwards
    waits.with_thread_level([this](bool) { complete(); });
    if (waits.threaded()) {
        waits.wake();
    }
}

void Partitioned::end_failed_start() noexcept {
    error = _failure;
    set_complete();
}

void Partitioned::fail(int code, std::string text) noexcept {
    _failure = code;
    _text = std::move(text);
}

void Partitioned::fail_by_size(int code, std::int64_t sent, std::int64_t received) noexcept {
    fail(code, unless_out_of_memory(std::string(), [&] {
        return fmt::format("the partitions of MPI_Psend_init have {} bytes, those of the matching MPI_Precv_init {}: "
                           "both must have the same number",
            sent, received);
    }));
}

void Partitioned::prepare_release() noexcept {
    _engine.add(*this);
}

void Partitioned::enter_lists() noexcept {
    _engine.add(*this);
    enter_list();
}

void Partitioned::leave_lists() noexcept {
    leave_list();
    _engine.remove(*this);
}

void Partitioned::destroy() noexcept {
    drop(_setup_request);
    drop(_reply_request);
    release_messages();
    keep_channels(0);
    if (_tags != PartitionedEngine::no_tags) {
        _engine.give_back_tags(_tags);
    }
    delete this;
}

} // namespace patchbay::pml
