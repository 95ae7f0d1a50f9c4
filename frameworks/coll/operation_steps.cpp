// SPDX-License-Identifier: BSD-3-Clause
// How the steps of an operation run: what is ready starts, and what ends makes others ready.
#include "frameworks/chan/chan.h"
#include "frameworks/coll/operation.h"
#include "frameworks/pml/pml.h"
#include "object/error_cause.h"
#include "object/typed_copy.h"

#include <utility>

namespace patchbay::coll {

namespace {

// Whether a message that could not be started, or ended, with this error may succeed later: memory was short, which is
// not the cause for which the communicator has failed.
bool may_recover(const Step& step, int code) noexcept {
    return code == MPI_ERR_NO_MEM && step.comm->pml->failure_text(*step.comm, code).empty();
}

std::string_view short_message(bool empty) noexcept {
    return empty ? "another member of the communicator has failed, or gave a count of 0"
                 : "another member of the communicator gave a smaller count";
}

} // namespace

void Operation::start_steps() noexcept {
    fail(schedule.code(), schedule.cause());
    if (Execution* execution = schedule.execution(); execution != nullptr && !failed()) {
        execution->start(_tag, *this);
        return;
    }
    const std::span<const Step> steps = schedule.steps();
    _left = steps.size();
    for (StepId id = 0; id < steps.size(); ++id) {
        Progression& progression = _progressions[id];
        progression.waits = steps[id].waits;
        progression.ended = false;
        progression.empty = false;
        progression.unreachable = false;
        if (steps[id].waits == 0) {
            make_ready(id);
        }
    }
    run_ready_steps();
}

int Operation::look_at_channels() noexcept {
    if (_running) { // in a function of the program
        return 0;
    }
    int ended = 0;
    for (std::size_t i = 0; i < _look_count;) {
        const StepId id = _looks[i];
        if (_progressions[id].message->has_completed()) {
            _looks[i] = _looks[--_look_count];
            end_message(id);
            ++ended;
        } else {
            ++i;
        }
    }
    if (ended != 0) {
        run_ready_steps();
    }
    return ended;
}

void Operation::make_ready(StepId id) noexcept {
    ReadySteps& list = schedule.steps()[id].kind == StepKind::send ? _ready_sends : _ready;
    _progressions[id].next_ready = no_step;
    if (list.last == no_step) {
        list.first = id;
    } else {
        _progressions[list.last].next_ready = id;
    }
    list.last = id;
}

// no_step: none is ready. A receive may copy a long message that is there already, and the receivers of this member's
// messages would wait for that.
StepId Operation::take_ready() noexcept {
    ReadySteps& list = _ready_sends.first != no_step ? _ready_sends : _ready;
    const StepId id = list.first;
    if (id != no_step) {
        list.first = _progressions[id].next_ready;
        if (list.first == no_step) {
            list.last = no_step;
        }
    }
    return id;
}

void Operation::release(StepId id) noexcept {
    if (--_progressions[id].waits == 0) {
        make_ready(id);
    }
}

// A step that polls (through a callback of the program) may lead here again: the outer call runs the steps.
void Operation::run_ready_steps() noexcept {
    if (_running) {
        return;
    }
    _running = true;
    for (StepId id = take_ready(); id != no_step; id = take_ready()) {
        run_step(id);
    }
    _running = false;
    if (_left == 0) {
        finish_start();
    }
}

void Operation::run_step(StepId id) noexcept {
    const Step& step = schedule.steps()[id];
    switch (step.kind) {
    case StepKind::send:
        start_send(id);
        break;
    case StepKind::recv:
        start_recv(id);
        break;
    case StepKind::copy:
        if (!failed()) {
            fail(typed_copy(
                step.source, step.source_count, *step.source_type, step.target, step.target_count, *step.target_type));
        }
        end_step(id);
        break;
    case StepKind::reduce:
        if (!failed() && step.target_count > 0) {
            fail(step.op->apply(step.source, step.target, step.target_count, *step.target_type));
        }
        end_step(id);
        break;
    case StepKind::join:
        end_step(id);
        break;
    }
    if (step.next_of_peer != no_step) {
        release(step.next_of_peer);
    }
}

void Operation::end_step(StepId id) noexcept {
    _progressions[id].ended = true;
    --_left;
    for (const StepId later : schedule.successors(schedule.steps()[id])) {
        release(later);
    }
}

void Operation::start_message(StepId id) noexcept {
    if (schedule.steps()[id].kind == StepKind::send) {
        start_send(id);
    } else {
        start_recv(id);
    }
}

void Operation::start_send(StepId id) noexcept {
    const Step& step = schedule.steps()[id];
    Progression& progression = _progressions[id];
    const bool empty = progression.empty || failed();
    progression.empty = empty;
    if (progression.by_channel) {
        send_by_channel(id, empty);
        return;
    }
    progression.message = empty ? nullptr : progression.bound;
    int code = MPI_SUCCESS;
    if (progression.message != nullptr) {
        code = progression.message->start();
    } else {
        const Datatype& type = empty ? *to_object<Datatype>(MPI_BYTE) : *step.source_type;
        code = step.comm->pml->isend(empty ? nullptr : step.source, empty ? 0 : step.source_count, type, step.peer,
            _tag, pml::SendMode::standard, *step.comm, &progression.message);
    }
    if (code != MPI_SUCCESS) [[unlikely]] {
        progression.message = nullptr;
        end_send(id, code);
        return;
    }
    watch(id);
}

void Operation::start_recv(StepId id) noexcept {
    const Step& step = schedule.steps()[id];
    Progression& progression = _progressions[id];
    if (progression.unreachable) [[unlikely]] {
        end_step(id);
        return;
    }
    if (progression.by_channel) {
        recv_by_channel(id);
        return;
    }
    const bool empty = progression.empty || failed();
    progression.empty = empty;
    progression.message = empty ? nullptr : progression.bound;
    int code = MPI_SUCCESS;
    if (progression.message != nullptr) {
        code = progression.message->start();
    } else {
        const Datatype& type = empty ? *to_object<Datatype>(MPI_BYTE) : *step.target_type;
        code = step.comm->pml->irecv(empty ? nullptr : step.target, empty ? 0 : step.target_count, type, step.peer,
            _tag, *step.comm, &progression.message);
    }
    if (code != MPI_SUCCESS) [[unlikely]] {
        progression.message = nullptr;
        fail(code, noted_cause(code));
        end_recv(id, code, 0);
        return;
    }
    watch(id);
}

void Operation::send_by_channel(StepId id, bool empty) noexcept {
    Progression& progression = _progressions[id];
    auto& channel = static_cast<chan::Channel&>(*progression.bound);
    int code = MPI_SUCCESS;
    if (empty != progression.shortened) [[unlikely]] {
        const Step& step = schedule.steps()[id];
        code = channel.rebind(const_cast<void*>(step.source), empty ? 0 : step.source_count);
        if (code == MPI_SUCCESS) {
            progression.shortened = empty;
        }
    }
    if (code == MPI_SUCCESS) [[likely]] {
        code = channel.start();
    }
    if (code != MPI_SUCCESS) [[unlikely]] {
        end_send(id, code);
        return;
    }
    progression.message = &channel;
    watch_channel(id);
}

// After an error, too: the buffer is as good as none, and the channel has no other.
void Operation::recv_by_channel(StepId id) noexcept {
    Progression& progression = _progressions[id];
    if (const int code = progression.bound->start(); code != MPI_SUCCESS) [[unlikely]] {
        fail(code, noted_cause(code));
        end_recv(id, code, 0);
        return;
    }
    progression.message = progression.bound;
    watch_channel(id);
}

void Operation::watch_channel(StepId id) noexcept {
    if (_progressions[id].message->is_complete()) { // most sends are
        end_message(id);
        return;
    }
    _looks[_look_count++] = id;
    if (!is_watched) {
        _engine.add_watched(*this);
    }
}

void Operation::watch(StepId id) noexcept {
    Progression& progression = _progressions[id];
    Request& message = *progression.message;
    if (message.is_complete()) { // most sends of short messages are
        end_message(id);
        return;
    }
    progression.open();
    if (!message.attach(progression) || progression.close()) {
        end_message(id);
    }
}

void Operation::Progression::run_item(ReadyItem& item) noexcept {
    auto& self = static_cast<Progression&>(item);
    if (self.message == nullptr) {
        self.operation.start_message(self.id); // again
    } else {
        self.operation.end_message(self.id);
    }
    self.operation.run_ready_steps();
}

void Operation::end_message(StepId id) noexcept {
    Request* message = std::exchange(_progressions[id].message, nullptr);
    const int code = message->error;
    const std::uint64_t bytes = status_bytes(message->status);
    if (code != MPI_SUCCESS) [[unlikely]] {
        fail(code, message->cause());
    }
    if (message == _progressions[id].bound) {
        message->end_start();
    } else {
        message->recycle();
    }
    if (schedule.steps()[id].kind == StepKind::send) {
        end_send(id, code);
    } else {
        end_recv(id, code, bytes);
    }
}

void Operation::end_send(StepId id, int code) noexcept {
    Progression& progression = _progressions[id];
    if (code == MPI_SUCCESS) [[likely]] {
        end_step(id);
        return;
    }
    fail(code, noted_cause(code));
    const Step& step = schedule.steps()[id];
    if (!std::exchange(progression.empty, true)) {
        start_send(id); // instead of a message that could not be sent
    } else if (may_recover(step, code)) {
        progression.post(); // the next poll tries again
    } else {
        abandon_peer(step);
        end_step(id);
    }
}

void Operation::end_recv(StepId id, int code, std::uint64_t bytes) noexcept {
    const Step& step = schedule.steps()[id];
    if (may_recover(step, code)) [[unlikely]] { // nothing has been received
        _progressions[id].post();               // the next poll tries again, with no elements
        return;
    }
    const std::uint64_t expected = std::uint64_t(step.target_count) * std::uint64_t(step.target_type->size);
    if (code == MPI_SUCCESS && bytes < expected) [[unlikely]] {
        fail(bytes == 0 ? MPI_ERR_OTHER : MPI_ERR_COUNT, short_message(bytes == 0));
    }
    end_step(id);
}

// Not even an empty message could be sent: where no way leads to a member, it has none to this one either and sends
// nothing. Its messages are not waited for.
void Operation::abandon_peer(const Step& send) noexcept {
    const std::span<const Step> steps = schedule.steps();
    for (StepId id = 0; id < steps.size(); ++id) {
        Progression& progression = _progressions[id];
        if (steps[id].kind == StepKind::recv && steps[id].comm == send.comm && steps[id].peer == send.peer &&
            !progression.ended) {
            progression.unreachable = true;
            if (progression.message != nullptr && !progression.by_channel) {
                progression.message->cancel();
            }
        }
    }
}

} // namespace patchbay::coll
