// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pml/partitioned_send.h"

#include "core/base/out_of_memory.h"
#include "core/progress/progress.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_tags.h"

#include <algorithm>

namespace patchbay::pml {

PartitionedSend::PartitionedSend(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept
    : Partitioned(engine, what, comm),
      _after_setup(comm.progress_or(engine.progress()), *this) {}

int PartitionedSend::make(
    PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept {
    PartitionedMaker* maker = engine.maker_for(comm);
    auto* made = maker != nullptr ? maker->make_send(engine, what, comm)
                                  : new (std::nothrow) PartitionedSend(engine, what, comm);
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const int code = made->allocate() ? made->send_first() : MPI_ERR_NO_MEM;
    if (code != MPI_SUCCESS) {
        made->destroy();
        return code;
    }
    *request = made;
    return MPI_SUCCESS;
}

bool PartitionedSend::allocate() noexcept {
    _states.reset(new (std::nothrow) PartitionState[std::size_t(_what.partitions)]());
    if (_states != nullptr && !is_null()) {
        _tags = _engine.take_tags(1);
        return _tags != PartitionedEngine::no_tags;
    }
    return _states != nullptr && plan_nothing();
}

// To MPI_PROC_NULL: one message, which is not sent, so that the request is complete when all partitions are ready, as
// any other one.
bool PartitionedSend::plan_nothing() noexcept {
    _plan = {std::max(_what.partitions, 1), 1};
    _left.reset(new (std::nothrow) std::atomic<std::int32_t>[1]);
    _planned.store(true, std::memory_order_relaxed);
    return _left != nullptr;
}

int PartitionedSend::send_first() noexcept {
    if (is_null()) {
        return MPI_SUCCESS;
    }
    prepare_channels();
    // The receiver's datatype may require longer messages: there are so many at most, and all together at least.
    const int most = PartitionedPlan::make(_what.partitions, _partition_bytes, 1, _engine.message_size()).messages;
    const bool channels = take_channels(most, {0, _what.partitions * _what.count});
    _setup = {_partition_bytes, _engine.message_size(), _what.partitions, _tags, channels, {}};
    const int described = unless_out_of_memory(MPI_ERR_NO_MEM, [this] {
        _setup.note = describe();
        return MPI_SUCCESS;
    });
    if (described != MPI_SUCCESS) {
        return described;
    }
    const int code = send_setup(&_setup, sizeof _setup, partitioned_setup_tag(_what.tag), &_setup_request);
    if (code == MPI_SUCCESS && _setup_request->is_complete()) {
        drop(_setup_request);
    }
    return code;
}

int PartitionedSend::start() noexcept {
    _ready += 2;
    if (_failure != MPI_SUCCESS) {
        end_failed_start();
        return MPI_SUCCESS;
    }
    if (!_planned.load(std::memory_order_relaxed)) {
        return start_first(); // or a later one, after an error
    }
    open_messages();
    if (_what.partitions == 0) {
        send_message(0);
    }
    return MPI_SUCCESS;
}

int PartitionedSend::start_first() noexcept {
    if (_replied) {
        open_round();
        begin();
        return MPI_SUCCESS;
    }
    const int code = receive_setup(&_reply, sizeof _reply, partitioned_tag(_tags), &_reply_request);
    if (code != MPI_SUCCESS) {
        return code;
    }
    open_round();
    _after_setup.open();
    _reply_request->attach(_after_setup);
    if (_setup_request != nullptr) {
        _setup_request->attach(_after_setup);
    }
    if (_after_setup.close()) {
        end_setup();
    }
    return MPI_SUCCESS;
}

void PartitionedSend::open_messages() noexcept {
    reset_left();
    _unsent.store(_plan.messages, std::memory_order_relaxed);
    end_messages();
    open_round();
}

void PartitionedSend::reset_left() noexcept {
    for (int i = 0; i < _plan.messages; ++i) {
        _left[std::size_t(i)].store(_plan.size_of(i, _what.partitions), std::memory_order_relaxed);
    }
}

// The reply has arrived, or will not.
void PartitionedSend::end_setup() noexcept {
    if (_orphaned) {
        leave_lists();
        destroy();
        return;
    }
    read_reply();
    drop(_setup_request);
    drop(_reply_request);
    begin();
}

// An error is that of all starts.
void PartitionedSend::read_reply() noexcept {
    for (const Request* request : {_setup_request, _reply_request}) {
        if (request != nullptr && request->error != MPI_SUCCESS) {
            fail(request->error, unless_out_of_memory(std::string(), [&] { return std::string(request->cause()); }));
            return;
        }
    }
    if (_reply.code == MPI_ERR_TRUNCATE || _reply.code == MPI_ERR_COUNT) {
        fail_by_size(_reply.code, bytes(), _reply.bytes);
    } else if (_reply.code == MPI_ERR_TYPE) {
        fail(_reply.code, unless_out_of_memory(std::string(), [] {
            return std::string("the matching MPI_Precv_init has other types; its process has printed which");
        }));
    } else if (_reply.code != MPI_SUCCESS) {
        fail(_reply.code);
    }
    keep_channels(_reply.channels != 0 ? _reply.plan.messages : 0);
    _replied = true;
}

// The rest of the first start, after the reply has arrived. Partitions may become ready at the same time.
void PartitionedSend::begin() noexcept {
    const int code = _failure == MPI_SUCCESS && _made == 0 ? make_plan() : MPI_SUCCESS;
    if (code != MPI_SUCCESS) { // the next start tries again
        fail_start(code);
    }
    if (code != MPI_SUCCESS || _failure != MPI_SUCCESS) {
        close_round();
        return;
    }
    bind_messages();
}

void PartitionedSend::start_first_round() noexcept {
    reset_left();
    // The one more keeps this object until all partitions have been looked at.
    _unsent.store(_plan.messages + 1, std::memory_order_relaxed);
    _planned.store(true, std::memory_order_seq_cst);
    count_ready();
}

int PartitionedSend::make_plan() noexcept {
    _plan = _reply.plan;
    _left.reset(new (std::nothrow) std::atomic<std::int32_t>[std::size_t(_plan.messages)]);
    if (_left == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    return make_messages(_reply.first_tag, [this](int i) {
        return Elements{_plan.first_of(i) * _what.count, _plan.size_of(i, _what.partitions) * _what.count};
    });
}

// A partition that becomes ready at this time is counted by one of the two threads: this one sees its state, or the
// other one sees _planned.
void PartitionedSend::count_ready() noexcept {
    if (_what.partitions == 0) {
        send_message(0);
    }
    for (int i = 0; i < _what.partitions; ++i) {
        std::uint32_t expected = _ready;
        if (_states[std::size_t(i)].compare_exchange_strong(expected, _ready + 1, std::memory_order_seq_cst) &&
            count(i)) {
            send_message(_plan.message_of(i));
        }
    }
    end_message();
}

bool PartitionedSend::make_ready(int partition) noexcept {
    bool fresh = false;
    bool due = false; // the message can be sent
    progress->with_thread_level(
        [&](bool threaded) { fresh = threaded ? mark(partition, &due) : mark_alone(partition, &due); });
    if (due) {
        send_message(_plan.message_of(partition));
    }
    return fresh;
}

// What mark() does where no other thread uses the request.
inline bool PartitionedSend::mark_alone(int partition, bool* due) noexcept {
    PartitionState& state = _states[std::size_t(partition)];
    const std::uint32_t counted = _ready + 1;
    if ((state.load(std::memory_order_relaxed) | 1) == counted) {
        return false;
    }
    if (!_planned.load(std::memory_order_relaxed)) {
        state.store(_ready, std::memory_order_relaxed);
        return true;
    }
    state.store(counted, std::memory_order_relaxed);
    std::atomic<std::int32_t>& left = _left[std::size_t(_plan.message_of(partition))];
    const std::int32_t now = left.load(std::memory_order_relaxed) - 1;
    left.store(now, std::memory_order_relaxed);
    *due = now == 0;
    return true;
}

// false: it was ready before. *due: its message can be sent.
bool PartitionedSend::mark(int partition, bool* due) noexcept {
    PartitionState& state = _states[std::size_t(partition)];
    const std::uint32_t counted = _ready + 1;
    bool planned = _planned.load(std::memory_order_acquire);
    std::uint32_t before = state.load(std::memory_order_relaxed);
    if ((before | 1) == counted ||
        !state.compare_exchange_strong(before, planned ? counted : _ready, std::memory_order_seq_cst)) {
        return false;
    }
    if (!planned && _planned.load(std::memory_order_seq_cst)) {
        before = _ready;
        planned = state.compare_exchange_strong(before, counted, std::memory_order_seq_cst);
    }
    *due = planned && count(partition);
    return true;
}

// true: it is the last one of its message.
bool PartitionedSend::count(int partition) noexcept {
    return _left[std::size_t(_plan.message_of(partition))].fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void PartitionedSend::send_message(int message) noexcept {
    if (!is_null()) {
        start_message(message);
    }
    end_message();
}

// Where channels carry messages, the round ends in check(), whose thread may sleep.
void PartitionedSend::end_message() noexcept {
    if (_unsent.fetch_sub(1, std::memory_order_acq_rel) != 1) {
        return;
    }
    Progress& waits = *progress; // this object may not exist afterwards
    const bool by_channels = channels() != 0;
    close_round();
    if (by_channels && waits.threaded()) {
        waits.wake();
    }
}

std::string_view PartitionedSend::refuses_free() const noexcept {
    if (state() != State::active) {
        return {};
    }
    for (int i = 0; i < _what.partitions; ++i) {
        if ((_states[std::size_t(i)].load(std::memory_order_relaxed) | 1) != _ready + 1) {
            return "the request is active, and not all of its partitions are ready";
        }
    }
    return {};
}

int PartitionedSend::retire() noexcept {
    _engine.remove(*this);
    if (_setup_request != nullptr && !_setup_request->is_complete()) {
        _orphaned = true;
        enter_lists();
        _after_setup.open();
        _setup_request->attach(_after_setup);
        if (!_after_setup.close()) {
            return MPI_SUCCESS;
        }
        leave_lists();
    }
    destroy();
    return MPI_SUCCESS;
}

} // namespace patchbay::pml
