// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/schedule.h"

#include "core/base/out_of_memory.h"
#include "frameworks/coll/typed_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace patchbay::coll {

namespace {

// The address of scratch memory that could not be allocated. It is never read or written, but not null, so that a plan
// may compute addresses from it.
alignas(std::max_align_t) std::byte nowhere[64];

bool is_message(const Step& step) noexcept {
    return step.kind == StepKind::send || step.kind == StepKind::recv;
}

} // namespace

StepId Schedule::add(const Step& step) noexcept {
    if (_exhausted) [[unlikely]] {
        return no_step;
    }
    _execution.reset();
    _finished = false;
    const auto id = StepId(_steps.size());
    try {
        _steps.push_back(step);
        if (_last_round != no_step) {
            _edges.push_back({_last_round, id});
        }
    } catch (const std::bad_alloc&) {
        _exhausted = true;
        return no_step;
    }
    return id;
}

StepId Schedule::send(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
    Step step;
    step.kind = StepKind::send;
    step.peer = dest;
    step.comm = _comm;
    step.source = buffer;
    step.source_count = count;
    step.source_type = &type;
    return add(step);
}

StepId Schedule::recv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
    Step step;
    step.kind = StepKind::recv;
    step.peer = source;
    step.comm = _comm;
    step.target = buffer;
    step.target_count = count;
    step.target_type = &type;
    return add(step);
}

StepId Schedule::copy(const void* source, MPI_Count source_count, const Datatype& source_type, void* target,
    MPI_Count target_count, const Datatype& target_type) noexcept {
    Step step;
    step.kind = StepKind::copy;
    step.source = source;
    step.source_count = source_count;
    step.source_type = &source_type;
    step.target = target;
    step.target_count = target_count;
    step.target_type = &target_type;
    return add(step);
}

StepId Schedule::reduce(const void* in, void* inout, MPI_Count count, const Datatype& type, const Op& op) noexcept {
    Step step;
    step.kind = StepKind::reduce;
    step.source = in;
    step.source_count = count;
    step.source_type = &type;
    step.target = inout;
    step.target_count = count;
    step.target_type = &type;
    step.op = &op;
    return add(step);
}

void Schedule::after(StepId step, StepId earlier) noexcept {
    if (step == no_step || earlier == no_step || _exhausted) {
        return;
    }
    if (earlier >= step || step >= _steps.size()) { // so that no step waits for itself
        fail(MPI_ERR_INTERN, "the plan of a collective lets a step follow one that is not before it");
        return;
    }
    try {
        _edges.push_back({earlier, step});
        _steps[earlier].has_successors = true;
    } catch (const std::bad_alloc&) {
        _exhausted = true;
    }
}

void Schedule::round() noexcept {
    const auto end = StepId(_steps.size());
    if (_exhausted || end == _round_begin) {
        return;
    }
    if (end - _round_begin == 1) { // the only step of the round can stand for its end
        _last_round = _round_begin;
        _round_begin = end;
        return;
    }
    const StepId join = add(Step{});
    for (StepId step = _round_begin; step < end; ++step) {
        if (!_steps[step].has_successors) {
            after(join, step);
        }
    }
    _last_round = join;
    _round_begin = StepId(_steps.size());
}

void* Schedule::scratch(MPI_Count count, const Datatype& type) noexcept {
    const Room room = room_for(count, type);
    try {
        _scratch.emplace_back(_pool, room.bytes);
    } catch (const std::bad_alloc&) {
        fail(MPI_ERR_NO_MEM);
        return nowhere;
    }
    if (!_scratch.back()) {
        fail(MPI_ERR_NO_MEM);
        return nowhere;
    }
    _scratch_bytes += room.bytes;
    return _scratch.back().data() + room.element_0;
}

void Schedule::keep(Ref<Datatype> type) noexcept {
    try {
        _types.push_back(std::move(type));
    } catch (const std::bad_alloc&) {
        _exhausted = true; // its steps must not run
    }
}

void Schedule::clear(Communicator* comm, Form form) noexcept {
    _comm = comm;
    _form = form;
    _steps.clear();
    _edges.clear();
    _successors.clear();
    _scratch.clear();
    _scratch_bytes = 0;
    _types.clear();
    _execution.reset();
    _start_note = {};
    _repeatable_by = nullptr;
    _last_round = no_step;
    _round_begin = 0;
    _code = MPI_SUCCESS;
    _finished = false;
    _exhausted = false;
    _cause = {};
}

int Schedule::finish() noexcept {
    if (_exhausted) {
        return MPI_ERR_NO_MEM;
    }
    if (_finished) {
        return MPI_SUCCESS;
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        find_successors();
        order_messages();
        _finished = true;
        return MPI_SUCCESS;
    });
}

// Sorts the edges by the earlier step.
void Schedule::find_successors() {
    _successors.resize(_edges.size());
    for (Step& step : _steps) {
        step.waits = 0;
        step.successor_count = 0;
        step.next_of_peer = no_step;
    }
    for (const Edge& edge : _edges) {
        ++_steps[edge.earlier].successor_count;
        ++_steps[edge.later].waits;
    }
    std::uint32_t end = 0;
    for (Step& step : _steps) {
        end += step.successor_count;
        step.first_successor = end;
    }
    for (auto edge = _edges.rbegin(); edge != _edges.rend(); ++edge) {
        _successors[--_steps[edge->earlier].first_successor] = edge->later;
    }
}

// Steps without a dependency start in the order of the plan; a message after one of these need not wait for it.
void Schedule::link_messages(StepId earlier, StepId later) noexcept {
    if (_steps[earlier].waits != 0) {
        _steps[earlier].next_of_peer = later;
        ++_steps[later].waits;
    }
}

// Links the messages in one direction between the same processes in the order of the plan.
void Schedule::order_messages() {
    if (_edges.empty()) {
        return;
    }
    const auto channel = [this](StepId id) {
        const Step& step = _steps[id];
        return std::tuple(step.kind, step.comm, step.peer);
    };
    _messages.clear();
    for (StepId id = 0; id < _steps.size(); ++id) {
        if (is_message(_steps[id])) {
            _messages.push_back(id);
        }
    }
    std::sort(_messages.begin(), _messages.end(),
        [&](StepId a, StepId b) { return std::tuple(channel(a), a) < std::tuple(channel(b), b); });
    for (std::size_t i = 1; i < _messages.size(); ++i) {
        if (channel(_messages[i - 1]) == channel(_messages[i])) {
            link_messages(_messages[i - 1], _messages[i]);
        }
    }
}

} // namespace patchbay::coll
