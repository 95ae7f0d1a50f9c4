// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/coll/trials.h"

#include "core/base/out_of_memory.h"
#include "core/core.h"
#include "core/log.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/operation.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <chrono>
#include <fmt/core.h>
#include <utility>

namespace patchbay::coll {

namespace {

// The data of the program may be anything before the first start. What its reductions raise is not to be seen, and must
// not end a program that has floating-point exceptions trapped.
class HeldFloatingPoint {
public:
    HeldFloatingPoint() noexcept { std::feholdexcept(&_environment); }
    ~HeldFloatingPoint() { std::fesetenv(&_environment); }
    HeldFloatingPoint(const HeldFloatingPoint&) = delete;
    HeldFloatingPoint& operator=(const HeldFloatingPoint&) = delete;

private:
    std::fenv_t _environment;
};

std::string describe(const Communicator& comm) {
    return comm.name.empty() ? comm.count_members() : comm.name;
}

} // namespace

// A user's op would notice that it is called. The messages between threads are not bound, and the members of several
// jobs need not have the same parameters.
bool Trials::are_possible(const Module& module, const Call& call, const Communicator& comm) noexcept {
    return one_block.has(call.function) && !comm.is_inter && comm.view == nullptr &&
        (call.op == nullptr || call.op->is_predefined()) && module.candidates(call, comm) > 1 &&
        !comm.group->has_other_jobs();
}

Trials::Trials(Engine& engine, Module& module, const Call& call, Communicator& comm, Effort own) noexcept
    : _engine(engine),
      _module(module),
      _call(call),
      _comm(comm),
      _own(own),
      _count(module.candidates(call, comm)),
      _saved(call, comm) {}

int Trials::run(Operation** operation) noexcept {
    std::int32_t wanted = 0;
    int code = agree(&wanted);
    if (code == MPI_SUCCESS && wanted != 0) {
        const HeldFloatingPoint held;
        code = time_all(operation);
        _saved.restore();
    }
    // The communication of the members is none of the program's calls.
    _module.keep_candidate(_fastest, _call, _comm);
    return code;
}

// Whether all members want the candidates to be timed. They then have the same candidates, unless the program gives
// different counts. A member that does not want it knows the answer whatever becomes of its messages, so that it has no
// error: the others do.
int Trials::agree(std::int32_t* wanted) noexcept {
    const bool wants = _own == Effort::time && _saved.save(_engine.scratch_pool());
    std::array<Nanoseconds, 3> least{wants ? 1 : 0, Nanoseconds(_count), -Nanoseconds(_count)};
    const int code = reduce(least, MPI_MIN);
    if (!wants) {
        *wanted = 0;
        return MPI_SUCCESS;
    }
    *wanted = code == MPI_SUCCESS && least[0] == 1 && least[1] == -least[2] ? 1 : 0;
    return code;
}

int Trials::time_all(Operation** operation) noexcept {
    std::vector<Nanoseconds> times;
    if (unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
            times.reserve(_count);
            return MPI_SUCCESS;
        }) != MPI_SUCCESS) {
        times = {}; // nothing is explained
    }
    Nanoseconds least = failed;
    Operation* fastest = *operation;
    const int tag = fastest->tag();
    int code = MPI_SUCCESS;
    for (std::size_t number = 0; number < _count && code == MPI_SUCCESS; ++number) {
        Operation* candidate = number == 0 ? *operation : make_candidate(number, tag);
        Nanoseconds time = failed;
        code = time_candidate(candidate, &time);
        if (times.capacity() == _count) {
            times.push_back(time);
        }
        if (code == MPI_SUCCESS && time < least) {
            least = time;
            _fastest = number;
            std::swap(fastest, candidate);
        }
        if (candidate != nullptr && candidate != fastest) {
            candidate->leave_tag();
            candidate->recycle();
        }
    }
    *operation = fastest;
    if (code == MPI_SUCCESS && times.size() == _count) {
        explain(times);
    }
    return code;
}

// nullptr: the candidate cannot be made in this member.
Operation* Trials::make_candidate(std::size_t number, int tag) noexcept {
    Operation* made = _engine.take(_comm, Form::persistent);
    if (made == nullptr) {
        return nullptr;
    }
    int code = _module.plan_candidate(number, _call, made->schedule);
    code = code == MPI_SUCCESS ? made->prepare() : code;
    code = code == MPI_SUCCESS ? made->hold(_call) : code;
    if (code == MPI_SUCCESS) {
        made->set_tag(tag);
        code = made->bind_messages(bound_messages(Effort::time));
    }
    if (code != MPI_SUCCESS) {
        made->leave_tag();
        made->recycle();
        return nullptr;
    }
    return made;
}

// *time: `failed` where the candidate could not be made, or a start of it ended with an error, in any member.
int Trials::time_candidate(Operation* operation, Nanoseconds* time) noexcept {
    std::array<Nanoseconds, 1> worst{operation == nullptr || operation->schedule.code() != MPI_SUCCESS};
    if (const int code = reduce(worst, MPI_MAX); code != MPI_SUCCESS || worst[0] != 0) {
        *time = failed;
        return code;
    }
    // All members have made it, and wait for each other from here on, also where memory is short. Candidate 0 has its
    // channels already.
    if (!operation->has_tried_channels()) {
        operation->bind_channels_when_there_is_memory();
    }
    worst[0] =
        time_starts(*operation, 1); // the first start takes longer: buffers are new to the caches and to the kernel
    if (const int code = reduce(worst, MPI_MAX); code != MPI_SUCCESS) {
        return code;
    }
    const Nanoseconds starts =
        std::clamp<Nanoseconds>(time_of_row / std::max<Nanoseconds>(worst[0], 1), 1, most_starts);
    const bool first_failed = worst[0] == failed;
    Nanoseconds best = failed;
    for (int row = 0; row < rows && !first_failed; ++row) {
        if (const int code = barrier(); code != MPI_SUCCESS) {
            return code;
        }
        best = std::min(best, time_starts(*operation, starts));
    }
    worst[0] = best;
    const int code = reduce(worst, MPI_MAX);
    *time = worst[0];
    return code;
}

// The mean of some starts; all of them take place after an error, too, because the other members wait for their
// messages.
Trials::Nanoseconds Trials::time_starts(Operation& operation, Nanoseconds starts) noexcept {
    int code = MPI_SUCCESS;
    const auto begin = std::chrono::steady_clock::now();
    for (Nanoseconds start = 0; start < starts; ++start) {
        const int ended = operation.run_once();
        code = code == MPI_SUCCESS ? ended : code;
    }
    const auto time = std::chrono::steady_clock::now() - begin;
    return code == MPI_SUCCESS ? std::chrono::duration_cast<std::chrono::nanoseconds>(time).count() / starts : failed;
}

int Trials::reduce(std::span<Nanoseconds> values, MPI_Op op) noexcept {
    return (*_comm.coll)[Function::allreduce].allreduce(MPI_IN_PLACE, values.data(), MPI_Count(values.size()),
        *to_object<Datatype>(MPI_INT64_T), *to_object<Op>(op), _comm);
}

int Trials::barrier() noexcept {
    return (*_comm.coll)[Function::barrier].barrier(_comm);
}

// In the table of --explain, and with parameter verbose. All members have the same numbers.
void Trials::explain(const std::vector<Nanoseconds>& times) noexcept {
    DecisionLog& log = _engine._core.decisions;
    if (!log.enabled() && (!log_enabled(1) || _comm.rank != 0)) {
        return;
    }
    (void)unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const std::string object = init_name(_call.function) + " on " + describe(_comm);
        for (std::size_t number = 0; number < times.size(); ++number) {
            const std::string name = _module.candidate_name(number, _call, _comm);
            const bool wins = number == _fastest;
            const std::string reason = times[number] == failed
                ? "it failed"
                : fmt::format("{:.3f} us, {}{}", double(times[number]) / 1000,
                      wins ? "the least of " + std::to_string(times.size()) + " candidates" : "longer",
                      number == 0 ? "; without patchbay_effort this one is used" : "");
            log.record("coll", object, name, wins ? Outcome::chosen : Outcome::lost, 0, reason);
            if (_comm.rank == 0) {
                log_verbose(wins ? 1 : 2, "coll: " + object + ": " + name + ": " + reason);
            }
        }
        return MPI_SUCCESS;
    });
}

} // namespace patchbay::coll
