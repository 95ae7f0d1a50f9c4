// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/call.h"
#include "frameworks/coll/scratch.h"
#include "object/communicator.h"
#include "object/datatype.h"
#include "object/op.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

class Module;

using StepId = std::uint32_t;
inline constexpr StepId no_step = UINT32_MAX;

enum class StepKind : std::uint8_t {
    send,   // source to rank `peer`
    recv,   // target from rank `peer`
    copy,   // source to target, of equal signature
    reduce, // target[i] = source[i] op target[i]
    join,   // nothing: it stands for the end of a round
};

// One step of a schedule: plain data, from which the engine, or a network card, runs it without asking the module
// again.
struct Step {
    StepKind kind = StepKind::join;
    bool has_successors = false;
    std::uint32_t waits = 0;           // the number of steps that end or start before this one starts
    std::uint32_t first_successor = 0; // Schedule::successors()
    std::uint32_t successor_count = 0;
    StepId next_of_peer = no_step; // the next message in the same direction between the same processes
    int peer = MPI_PROC_NULL;
    Communicator* comm = nullptr; // of a message
    const void* source = nullptr;
    void* target = nullptr;
    MPI_Count source_count = 0;
    MPI_Count target_count = 0; // of a reduction: the count of both
    const Datatype* source_type = nullptr;
    const Datatype* target_type = nullptr; // of a reduction: the type of both
    const Op* op = nullptr;
};

// Informs the engine that one start of a schedule is complete.
class Completion {
public:
    // Called once per start, without locks that a poller takes: in Execution::start(), in a poll, or on another thread
    // that has called Progress::enable_threads() before. MPI code.
    virtual void end(int code) noexcept = 0;

protected:
    ~Completion() = default;
};

// Runs a schedule elsewhere than in the engine: by triggered operations of a network card, say. The module that made
// the plan attaches it to the schedule.
class Execution {
public:
    // Called when the schedule is not started again, after the completion of its last start.
    virtual ~Execution() = default;
    // Called by the engine at each start, on the thread that starts the operation or that polls, never before the last
    // start is complete. Must not block. The messages have this tag on each communicator. An error is reported by
    // done.end(), which may be called before this returns. Not called where the plan has noted an error
    // (Schedule::fail): its steps may refer to memory that could not be allocated, and the engine itself goes through
    // their messages, with no elements.
    virtual void start(int tag, Completion& done) noexcept = 0;
};

// What a module does at each start of a persistent operation, or of a plan that is repeated, while `wanted` is set,
// such as to count it for a tool.
struct StartNote {
    const std::atomic<bool>* wanted = nullptr; // exists as long as the schedule; nullptr: there is nothing to do
    // Called on the thread of MPI_Start, or of the nonblocking function. Must not block.
    void (*note)(void* context, const Communicator& comm, std::uint32_t what) noexcept = nullptr;
    void* context = nullptr;
    const Communicator* comm = nullptr;
    std::uint32_t what = 0;
};

// The steps of one member in one collective operation, in any order that the dependencies allow. Known completely at
// plan time; the engine (engine.h) starts it once (nonblocking, blocking) or often (persistent) and allocates nothing
// then.
//
//  - A step waits for all steps before the last round(), and for those that after() names. Steps that are not ordered
//    in this way run at the same time; each pair of them must be free of a conflict about a buffer.
//  - The messages from one member to another one on one communicator are sent and received in the order of the plan:
//    the k-th send to a rank matches the k-th receive from this rank there. The schedule takes care of that: one tag
//    per operation is enough.
//  - After an error the engine goes through all sends and receives that are left, with no elements, and through no copy
//    and no reduction. A receive whose message is shorter than it asked for is an error. In this way an error reaches
//    every member whose result depends on it, and no member waits for ever.
//
// A schedule keeps its capacity when it is cleared. Not thread-safe.
class Schedule {
public:
    // `pool`: from which scratch memory comes.
    explicit Schedule(ScratchPool& pool) noexcept
        : _pool(pool) {}
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    // What a plan uses.

    // The communicator of the steps that are added.
    Communicator& comm() const noexcept { return *_comm; }
    // The form of the operation. `blocking`: the module has no blocking function for it.
    Form form() const noexcept { return _form; }

    // These return the step. If memory is exhausted they return no_step, and the operation fails.
    StepId send(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept;
    StepId recv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept;
    StepId copy(const void* source, MPI_Count source_count, const Datatype& source_type, void* target,
        MPI_Count target_count, const Datatype& target_type) noexcept;
    // inout[i] = in[i] op inout[i]: `in` holds the part of lower ranks where the op does not commute.
    StepId reduce(const void* in, void* inout, MPI_Count count, const Datatype& type, const Op& op) noexcept;
    // A send and a receive at the same time.
    void exchange(const void* send_buffer, MPI_Count send_count, const Datatype& send_type, int dest, void* recv_buffer,
        MPI_Count recv_count, const Datatype& recv_type, int source) noexcept {
        recv(recv_buffer, recv_count, recv_type, source);
        send(send_buffer, send_count, send_type, dest);
    }

    // Each later step waits until all earlier ones have ended.
    void round() noexcept;
    // `step` waits until `earlier`, which was added before it, has ended. no_step as either one: nothing.
    void after(StepId step, StepId earlier) noexcept;

    // Room for `count` elements of a type, at the address of element 0, which belongs to the schedule. Its contents are
    // undefined at each start. When memory is exhausted, the error is noted (fail()), and the address may be used in
    // steps, none of which will read or write it.
    void* scratch(MPI_Count count, const Datatype& type) noexcept;

    // Notes an error of this member: the messages are sent all the same, with no elements. `cause`: a text that is
    // never destroyed. MPI_SUCCESS is none.
    void fail(int code, std::string_view cause = {}) noexcept {
        if (_code == MPI_SUCCESS && code != MPI_SUCCESS) {
            _code = code;
            _cause = cause;
        }
    }
    // A datatype that the plan has made is released with the schedule.
    void keep(Ref<Datatype> type) noexcept;

    // Steps that are added while an object of this class exists are on another communicator, which belongs to that of
    // the operation: no other operations run on it.
    class On {
    public:
        On(Schedule& schedule, Communicator& comm) noexcept
            : _schedule(schedule),
              _outer(schedule._comm) {
            schedule._comm = &comm;
        }
        ~On() { _schedule._comm = _outer; }
        On(const On&) = delete;
        On& operator=(const On&) = delete;

    private:
        Schedule& _schedule;
        Communicator* _outer;
    };
    // The rounds of the steps that are added while an object of this class exists are about these steps only: several
    // sections run at the same time. All of them wait for the last round before them.
    class Section {
    public:
        explicit Section(Schedule& schedule) noexcept
            : _schedule(schedule),
              _last_round(schedule._last_round),
              _round_begin(schedule._round_begin) {
            schedule._round_begin = StepId(schedule._steps.size());
        }
        ~Section() {
            _schedule._last_round = _last_round;
            _schedule._round_begin = _round_begin;
        }
        Section(const Section&) = delete;
        Section& operator=(const Section&) = delete;

    private:
        Schedule& _schedule;
        const StepId _last_round;
        const StepId _round_begin;
    };

    // Messages of which at most 64 are under way, so that a root with thousands of peers does not take memory in the
    // pml for all of them. Each step waits for the one 64 steps before it; a step that is added by another object does
    // not.
    class Batch {
    public:
        explicit Batch(Schedule& schedule) noexcept
            : _schedule(schedule) {
            _window.fill(no_step);
        }
        void irecv(void* buffer, MPI_Count count, const Datatype& type, int source) noexcept {
            add(_schedule.recv(buffer, count, type, source));
        }
        void isend(const void* buffer, MPI_Count count, const Datatype& type, int dest) noexcept {
            add(_schedule.send(buffer, count, type, dest));
        }
        // Each later step waits for these and for all other earlier ones.
        void finish() noexcept { _schedule.round(); }

    private:
        void add(StepId step) noexcept {
            _schedule.after(step, _window[_next]);
            _window[_next] = step;
            _next = (_next + 1) % _window.size();
        }

        Schedule& _schedule;
        std::array<StepId, 64> _window;
        std::size_t _next = 0;
    };

    // Of a persistent operation, and of one that may_repeat(); the note of the module whose plan this is, not of those
    // whose plans are a part of it.
    void at_start(const StartNote& note) noexcept { _start_note = note; }

    // For a nonblocking operation: the plan of the same call on the same communicator would be the same, so that the
    // engine may start this schedule again in its place. Said by the module whose plan() the engine has called, after
    // those whose plans are a part of it; what only such a one has said has no effect, because the module that stands
    // before it may have to see each call.
    void may_repeat(const Module& module) noexcept { _repeatable_by = &module; }

    // For a module with an Execution: finishes the plan, so that the Execution may be built from steps() and
    // successors(). A step that is added later removes it, because then the plan is a part of another one.
    void run_by(std::unique_ptr<Execution> execution) noexcept { _execution = std::move(execution); }

    // What the engine and an Execution use.

    // Makes the schedule empty, for the plan of an operation on `comm`.
    void clear(Communicator* comm, Form form = Form::blocking) noexcept;
    // Called when the plan is complete: orders the messages and finds the successors. Idempotent. MPI_SUCCESS, or
    // MPI_ERR_NO_MEM: the schedule is not complete and cannot be started.
    int finish() noexcept;
    std::span<const Step> steps() const noexcept { return {_steps.data(), _steps.size()}; }
    // The steps that wait for the end of this one. Besides, the step next_of_peer waits for its start. After finish().
    std::span<const StepId> successors(const Step& step) const noexcept {
        return std::span(_successors).subspan(step.first_successor, step.successor_count);
    }
    // The error of this member at plan time, and its cause.
    int code() const noexcept { return _code; }
    std::string_view cause() const noexcept { return _cause; }
    Execution* execution() const noexcept { return _execution.get(); }
    // Whether it may be started again for the same call, and is small enough to be kept.
    bool is_kept_by(const Module& module) const noexcept {
        return _repeatable_by == &module && _code == MPI_SUCCESS && _execution == nullptr &&
            _steps.size() <= most_kept_steps && _scratch_bytes <= most_kept_scratch;
    }
    void note_start() const noexcept {
        if (_start_note.wanted != nullptr && _start_note.wanted->load(std::memory_order_relaxed)) [[unlikely]] {
            _start_note.note(_start_note.context, *_start_note.comm, _start_note.what);
        }
    }

private:
    static constexpr std::size_t most_kept_steps = 64;
    static constexpr std::size_t most_kept_scratch = std::size_t(64) << 10;

    struct Edge {
        StepId earlier;
        StepId later;
    };

    StepId add(const Step& step) noexcept;
    void order_messages();
    void link_messages(StepId earlier, StepId later) noexcept;
    void find_successors();

    ScratchPool& _pool;
    Communicator* _comm = nullptr;
    std::vector<Step> _steps;
    std::vector<Edge> _edges;
    std::vector<StepId> _successors;
    std::vector<StepId> _messages; // memory for order_messages()
    std::vector<Scratch> _scratch;
    std::size_t _scratch_bytes = 0;
    std::vector<Ref<Datatype>> _types;
    std::unique_ptr<Execution> _execution;
    StartNote _start_note;
    const Module* _repeatable_by = nullptr;
    Form _form = Form::blocking;
    StepId _last_round = no_step; // the step that stands for the end of the last round
    StepId _round_begin = 0;      // the first step after it
    int _code = MPI_SUCCESS;
    bool _finished = false;
    bool _exhausted = false; // a step could not be added
    std::string_view _cause;
};

} // namespace coll
} // namespace patchbay
