// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/operation.h"

#include "core/base/out_of_memory.h"
#include "core/progress/progress.h"
#include "core/progress/waiter.h"
#include "frameworks/coll/outstanding.h"
#include "object/error_cause.h"

#include <new>
#include <utility>

namespace patchbay::coll {

namespace {

// Predefined objects are not counted.
template <class T>
Ref<T> share(const T* object) noexcept {
    return object == nullptr || object->is_predefined() ? Ref<T>() : Ref<T>::share(const_cast<T*>(object));
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
    persistent = form == Form::persistent;
    renew(communicator);
    schedule.clear(&communicator, form);
}

void Operation::renew(Communicator& communicator) noexcept {
    set_kind(ObjectKind::request);
    belong_to(communicator);
    // A persistent operation may be freed while it is active, and be complete only after MPI_Finalize has released the
    // predefined communicators: it keeps these, too. An operation on a thread communicator keeps it, so that the thread
    // does not finish before it.
    const bool keeps_any = persistent || communicator.view != nullptr;
    _comm = keeps_any ? Ref<Communicator>::share(&communicator) : share(&communicator);
    _tag = no_tag;
    set_inactive();
    error = MPI_SUCCESS;
    _cause.clear();
}

// What a pointer of the call leads to may be another object, or have another value, in the next call.
void Operation::note_call(const Module& module, const Call& call) noexcept {
    const auto is_constant = [](const auto* object) { return object == nullptr || object->is_predefined(); };
    const bool has_arrays = call.send_counts || call.send_displacements || call.recv_counts ||
        call.recv_displacements || call.send_types != nullptr || call.recv_types != nullptr;
    if (schedule.is_kept_by(module) && !has_arrays && is_constant(call.send_type) && is_constant(call.recv_type) &&
        is_constant(call.op)) {
        _module = &module;
        _call = call;
    }
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
    if (_joint == nullptr) {
        schedule.note_start();
    }
    begin_at_once();
    return MPI_SUCCESS;
}

void Operation::begin_at_once() noexcept {
    const bool begun = _joint != nullptr ? progress->run_alone([this] { begin_joint_start(true); })
                                         : progress->run_alone([this] { begin_start(); });
    if (!begun) [[unlikely]] {
        begin();
        progress->poll();
    }
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
    set_kind(ObjectKind::dead);                      // a stale handle is detected
    const Ref<Communicator> last = std::move(_comm); // its end releases what is kept for it
    if (_module == nullptr || error != MPI_SUCCESS || !engine.keep(*this)) {
        release_plan();
    }
    return MPI_SUCCESS;
}

void Operation::leave_kept() noexcept {
    _engine._kept_plans.fetch_sub(1, std::memory_order_relaxed);
    release_plan();
}

void Operation::release_plan() noexcept {
    _module = nullptr;
    schedule.clear(nullptr);
    _types.clear();
    _op.reset();
    _engine.give_back(this);
}

void Operation::begin_start() noexcept {
    _code = MPI_SUCCESS;
    _cause.clear();
    if (gate != nullptr) [[unlikely]] {
        gate->start(_gate_end);
    } else {
        start_now();
    }
}

void Operation::end_gate() noexcept {
    if (_gate_end.code == MPI_SUCCESS) {
        start_now();
        return;
    }
    fail(_gate_end.code, gate->cause());
    finish_start();
}

void Operation::start_now() noexcept {
    if (_joint != nullptr) {
        begin_joint_start(false);
    } else {
        start_steps();
    }
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
