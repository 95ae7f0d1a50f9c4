// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/operation.h"

#include "core/base/out_of_memory.h"
#include "core/progress/progress.h"
#include "core/progress/waiter.h"
#include "frameworks/chan/chan.h"
#include "frameworks/coll/outstanding.h"
#include "frameworks/pml/pml.h"
#include "object/error_cause.h"
#include "object/typed_copy.h"

#include <new>
#include <utility>

namespace patchbay::coll {

namespace {

// Predefined objects are not counted.
template <class T>
Ref<T> share(const T* object) noexcept {
    return object == nullptr || object->is_predefined() ? Ref<T>() : Ref<T>::share(const_cast<T*>(object));
}

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

Operation::Progressions::~Progressions() {
    ::operator delete(_memory);
}

bool Operation::Progressions::make(Operation& owner, std::size_t count) noexcept {
    static_assert(std::is_trivially_destructible_v<Progression>);
    if (count > _capacity) {
        auto* memory = ::operator new(count * sizeof(Progression), std::nothrow);
        if (memory == nullptr) {
            return false;
        }
        ::operator delete(_memory);
        _memory = static_cast<Progression*>(memory);
        _capacity = count;
    }
    for (std::size_t i = 0; i < count; ++i) {
        ::new (static_cast<void*>(_memory + i)) Progression(owner, StepId(i));
    }
    return true;
}

void Operation::set_up(Communicator& communicator, Form form) noexcept {
    set_kind(ObjectKind::request);
    belong_to(communicator);
    // A persistent operation may be freed while it is active, and be complete only after MPI_Finalize has released the
    // predefined communicators: it keeps these, too. An operation on a thread communicator keeps it, so that the thread
    // does not finish before it.
    const bool keeps_any = form == Form::persistent || communicator.view != nullptr;
    _comm = keeps_any ? Ref<Communicator>::share(&communicator) : share(&communicator);
    schedule.clear(&communicator, form);
    persistent = form == Form::persistent;
    _tag = no_tag;
    set_inactive();
    error = MPI_SUCCESS;
    _cause.clear();
}

int Operation::hold(const Call& call) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const auto keep = [this](const Datatype* type) {
            if (type != nullptr && !type->is_predefined() && (_types.empty() || _types.back().get() != type)) {
                _types.push_back(share(type));
            }
        };
        keep(call.send_type);
        keep(call.recv_type);
        for (int i = 0; i < call.send_types_count; ++i) {
            keep(to_object<Datatype>(call.send_types[i]));
        }
        for (int i = 0; i < call.recv_types_count; ++i) {
            keep(to_object<Datatype>(call.recv_types[i]));
        }
        _op = share(call.op);
        return MPI_SUCCESS;
    });
}

int Operation::prepare() noexcept {
    const int code = schedule.finish();
    if (code != MPI_SUCCESS) {
        return code;
    }
    return _progressions.make(*this, schedule.steps().size()) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

inline void Operation::end_joint_start(int code) noexcept {
    if (code != MPI_SUCCESS) [[unlikely]] {
        fail(code, noted_cause(code));
    }
    finish_start();
}

// Returns whether the start is complete; then the request may be gone.
[[gnu::always_inline]] inline bool Operation::advance_joint_start(int looks) noexcept {
    int code = MPI_SUCCESS;
    if (!_joint->advance(looks, &code)) {
        return false;
    }
    end_joint_start(code);
    return true;
}

// `alone`: in start(), where no other thread polls.
inline void Operation::begin_joint_start(bool alone) noexcept {
    _code = MPI_SUCCESS;
    _cause.clear();
    int code = MPI_SUCCESS;
    switch (_joint->begin(&code)) {
    case JointStart::Begun::complete:
        end_joint_start(code);
        return;
    case JointStart::Begun::contributed:
        if (alone) [[likely]] {
            _is_left_to_check.store(true, std::memory_order_relaxed);
            return;
        }
        break;
    case JointStart::Begun::waiting:
        break;
    }
    _engine.add_watched(*this);
}

// Of a start that was left to check(). In a poll, or where there can be none on another thread.
void Operation::watch_joint_start() noexcept {
    _engine.add_watched(*this);
}

// Also where there are several threads now.
void Operation::leave_to_polls() noexcept {
    if (!_is_left_to_check.exchange(false, std::memory_order_relaxed)) {
        return;
    }
    if (!progress->run_alone([this] { watch_joint_start(); })) {
        _watch.post();
    }
}

void Operation::prepare_release() noexcept {
    leave_to_polls();
    _engine._released.add(_released);
}

int Operation::start() noexcept {
    if (calls_back) [[unlikely]] {
        gate->begin();
    }
    set_active();
    // The first messages are sent before the caller continues its computation.
    bool begun;
    if (_joint != nullptr) {
        begun = progress->run_alone([this] { begin_joint_start(true); });
    } else {
        schedule.note_start();
        begun = progress->run_alone([this] { begin_start(); });
    }
    if (!begun) [[unlikely]] {
        begin();
        progress->poll();
    }
    return MPI_SUCCESS;
}

int Operation::run_once() noexcept {
    start();
    wait_until(*progress, [this] { return has_completed(); });
    set_inactive();
    return std::exchange(error, MPI_SUCCESS);
}

int Operation::cancel() noexcept {
    return note_cause(MPI_ERR_REQUEST, "a collective operation cannot be cancelled");
}

// MPI-5.0, 6.12. An active persistent request is freed when it is complete.
std::string_view Operation::refuses_free() const noexcept {
    return persistent ? std::string_view() : "the request of a nonblocking collective operation must not be freed";
}

int Operation::retire() noexcept {
    Engine& engine = _engine;
    if (persistent) {
        engine._released.remove(_released);
    }
    if (persistent && _tag != no_tag) {
        comm->outstanding->free_persistent_tag(_tag);
    }
    release_bound();
    _joint.reset();
    _complete_reference.clear();
    if (gate != nullptr) [[unlikely]] {
        gate.reset();
        calls_back = false;
    }
    _looks.reset();
    schedule.clear(nullptr);
    _types.clear();
    _op.reset();
    _comm.reset();
    set_kind(ObjectKind::dead); // a stale handle is detected
    engine.give_back(this);
    return MPI_SUCCESS;
}

void Operation::begin_start() noexcept {
    _code = MPI_SUCCESS;
    _cause.clear();
    if (gate != nullptr) [[unlikely]] {
        gate->start(_gate_end);
    } else {
        start_steps();
    }
}

void Operation::end_gate() noexcept {
    if (_gate_end.code == MPI_SUCCESS) {
        start_steps();
        return;
    }
    fail(_gate_end.code, gate->cause());
    finish_start();
}

void Operation::start_steps() noexcept {
    if (_joint != nullptr) {
        begin_joint_start(false);
        return;
    }
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

// Below several threads; otherwise the poller looks. A look of a joint start costs less than the way to it, and more of
// them do not help where the other members wait for this processor.
void Operation::check() noexcept {
    constexpr int joint_looks = 4;
    const bool is_left = _is_left_to_check.load(std::memory_order_relaxed);
    const bool alone = progress->run_alone([this, is_left] {
        if (_joint == nullptr) {
            look_at_channels();
        } else if (is_left || is_watched) [[likely]] {
            // Before, because a start that completes may take the request with it.
            _is_left_to_check.store(false, std::memory_order_relaxed);
            if (!advance_joint_start(progress->policy().spin.count() == 0 ? 1 : joint_looks)) {
                _is_left_to_check.store(is_left, std::memory_order_relaxed);
            }
        }
    });
    if (!alone && is_left) [[unlikely]] {
        leave_to_polls();
    }
}

int Operation::look() noexcept {
    return _joint != nullptr ? int(is_watched && advance_joint_start(1)) : look_at_channels();
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

void Operation::fail(int code, std::string_view text) noexcept {
    if (code == MPI_SUCCESS || failed()) [[likely]] {
        return;
    }
    _code = code;
    try {
        _cause = text;
    } catch (const std::bad_alloc&) {
        // Only the code is reported.
    }
}

void Operation::end(int code) noexcept {
    fail(code);
    _end.post();
}

void Operation::finish_start() noexcept {
    if (is_watched) {
        _engine.remove_watched(*this);
    }
    error = _code;
    fill_empty_status(status);
    if (schedule.form() == Form::nonblocking) {
        Outstanding& outstanding = *comm->outstanding;
        outstanding.remove(*this);
        while (Operation* later = outstanding.next_to_start()) {
            later->begin();
        }
        if (_comm) {
            _complete_reference.set(*_comm);
        }
    }
    complete();
}

} // namespace patchbay::coll
