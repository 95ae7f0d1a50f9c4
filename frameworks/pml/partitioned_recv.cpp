// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/pml/partitioned_recv.h"

#include "core/base/out_of_memory.h"
#include "core/progress/progress.h"
#include "frameworks/pml/partitioned_engine.h"
#include "frameworks/pml/partitioned_tags.h"
#include "object/error_cause.h"

namespace patchbay::pml {

PartitionedRecv::PartitionedRecv(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept
    : Partitioned(engine, what, comm),
      _after_setup(comm.progress_or(engine.progress()), *this) {
    if (is_null()) {
        fill_proc_null_status(status);
    } else {
        fill_status(status, what.peer, what.tag, std::uint64_t(bytes()));
    }
}

int PartitionedRecv::make(
    PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept {
    PartitionedMaker* maker = engine.maker_for(comm);
    auto* made = maker != nullptr ? maker->make_recv(engine, what, comm)
                                  : new (std::nothrow) PartitionedRecv(engine, what, comm);
    if (made == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    const int code = made->is_null() ? MPI_SUCCESS : made->post_setup();
    if (code != MPI_SUCCESS) {
        made->destroy();
        return code;
    }
    *request = made;
    return MPI_SUCCESS;
}

int PartitionedRecv::post_setup() noexcept {
    prepare_channels();
    const int code = receive_setup(&_setup, sizeof _setup, partitioned_setup_tag(_what.tag), &_setup_request);
    if (code == MPI_SUCCESS) {
        _after_setup.open();
        _setup_request->attach(_after_setup);
        if (_after_setup.close()) {
            end_setup();
        }
    }
    return code;
}

int PartitionedRecv::start() noexcept {
    if (is_null()) {
        set_complete();
        return MPI_SUCCESS;
    }
    if (!_begun.load(std::memory_order_acquire)) {
        open_round();
        if ((_phase.fetch_or(started, std::memory_order_acq_rel) & arrived) != 0) {
            begin();
        }
        return MPI_SUCCESS;
    }
    if (_failure != MPI_SUCCESS) {
        end_failed_start();
        return MPI_SUCCESS;
    }
    end_messages();
    open_round();
    start_messages();
    close_round();
    return MPI_SUCCESS;
}

// The setup message has arrived, or will not; or the reply has been sent.
void PartitionedRecv::end_setup() noexcept {
    if (_reply_request != nullptr) {
        end_reply();
        return;
    }
    read_setup();
    drop(_setup_request);
    const unsigned before = _phase.fetch_or(arrived, std::memory_order_acq_rel);
    if ((before & started) != 0) {
        begin();
    } else if ((before & orphaned) != 0) {
        leave_lists();
        destroy();
    }
}

void PartitionedRecv::read_setup() noexcept {
    const Request& message = *_setup_request;
    if (message.error != MPI_SUCCESS) {
        fail(message.error, unless_out_of_memory(std::string(), [&] { return std::string(message.cause()); }));
    } else if (!status_cancelled(message.status)) {
        _matched = true;
        const int code = make_plan();
        if (code != MPI_SUCCESS && _failure == MPI_SUCCESS) {
            fail(code);
        }
        if (const int refused = code == MPI_SUCCESS ? accept(_setup.note) : MPI_SUCCESS; refused != MPI_SUCCESS) {
            fail(refused, unless_out_of_memory(std::string(), [&] { return std::string(noted_cause(refused)); }));
        }
        const bool channels =
            _failure == MPI_SUCCESS && _setup.channels != 0 && take_channels(_plan.messages, elements_of(0));
        _reply = {bytes(), _failure, _tags, channels, _plan};
    }
}

int PartitionedRecv::make_plan() noexcept {
    const std::int64_t sent = _setup.bytes * _setup.partitions;
    if (sent != bytes()) {
        const int code = sent > bytes() ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
        fail_by_size(code, sent, bytes());
        return code;
    }
    const MPI_Count element = _what.type->size;
    _plan = PartitionedPlan::make(_setup.partitions, _setup.bytes, element, _setup.message_size);
    _tags = _engine.take_tags(_plan.messages);
    if (_tags == PartitionedEngine::no_tags) {
        return MPI_ERR_NO_MEM;
    }
    return make_messages(_tags, [this](int i) { return elements_of(i); });
}

Partitioned::Elements PartitionedRecv::elements_of(int message) const noexcept {
    const MPI_Count element = _what.type->size;
    const std::int64_t first = _plan.first_of(message) * _setup.bytes;
    const std::int64_t size = _plan.size_of(message, _setup.partitions) * _setup.bytes;
    return element == 0 ? Elements{0, 0} : Elements{first / element, size / element};
}

// The rest of the first start, after the setup message has arrived. Until it has succeeded, every start comes here.
void PartitionedRecv::begin() noexcept {
    if (_matched && !_replied) {
        const int code = send_setup(&_reply, sizeof _reply, partitioned_tag(_setup.reply_tag), &_reply_request);
        if (code != MPI_SUCCESS) {
            fail_start(code);
            close_round();
            return;
        }
        _after_setup.open();
        _reply_request->attach(_after_setup);
        if (!_after_setup.close()) {
            return; // end_setup() goes on
        }
    }
    end_reply();
}

void PartitionedRecv::end_reply() noexcept {
    const int code = _reply_request != nullptr ? _reply_request->error : MPI_SUCCESS;
    drop(_reply_request);
    _replied = code == MPI_SUCCESS;
    if (code == MPI_SUCCESS && _failure == MPI_SUCCESS) {
        bind_messages();
        return;
    }
    if (code != MPI_SUCCESS) {
        fail_start(code);
    } else {
        _begun.store(true, std::memory_order_release);
    }
    close_round();
}

void PartitionedRecv::start_first_round() noexcept {
    start_messages();
    _begun.store(true, std::memory_order_release);
    close_round();
}

void PartitionedRecv::start_messages() noexcept {
    for (int i = 0; i < _plan.messages; ++i) {
        start_message(i);
    }
}

bool PartitionedRecv::has_arrived(int partition) noexcept {
    if (state() != State::active) {
        return true;
    }
    if (!_begun.load(std::memory_order_acquire) || _failure != MPI_SUCCESS) {
        return false;
    }
    const std::int64_t message_bytes = _plan.group * _setup.bytes;
    const auto message_at = [&](std::int64_t byte) {
        return message_bytes == 0 ? 0 : int(std::min<std::int64_t>(byte / message_bytes, _plan.messages - 1));
    };
    const std::int64_t first = partition * _partition_bytes;
    const int last = message_at(std::max(first, first + _partition_bytes - 1));
    for (int i = message_at(first); i <= last; ++i) {
        if (!has_ended(i)) {
            return false;
        }
    }
    return true;
}

void PartitionedRecv::cancel_unmatched() noexcept {
    if (is_unmatched() && _setup_request != nullptr) {
        _setup_request->cancel();
    }
}

int PartitionedRecv::retire() noexcept {
    _engine.remove(*this);
    const unsigned phase = _phase.load(std::memory_order_relaxed);
    if (!is_null() && (phase & (started | arrived)) == 0) {
        // The setup message matches this request also when it is sent later, and no request that is made later.
        enter_lists();
        if ((_phase.fetch_or(orphaned, std::memory_order_acq_rel) & arrived) == 0) {
            return MPI_SUCCESS;
        }
        leave_lists();
    }
    destroy();
    return MPI_SUCCESS;
}

} // namespace patchbay::pml
