// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "frameworks/coll/engine.h"
#include "frameworks/coll/gate.h"
#include "frameworks/coll/schedule.h"
#include "object/request.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::coll {

// A collective operation of one member: its schedule, and how far each step is. Everything runs in polls, of which
// there is one at a time, and so needs no lock; below several threads start() runs the first steps itself, where no
// poll can be under way on another thread. Part of the engine.
class Operation final : public Request, private Completion {
public:
    Operation(Engine& engine, Progress& waits) noexcept
        : schedule(engine.scratch_pool()),
          _engine(engine),
          _begin(waits, *this),
          _end(waits, *this),
          _open(waits, *this),
          _watch(waits, *this) {
        progress = &waits;
    }

    // Before the first start, by the engine.
    void set_up(Communicator& communicator, Form form) noexcept;
    // The part of set_up() that the next call needs which the schedule serves again.
    void renew(Communicator& communicator) noexcept;
    // Notes the call of a nonblocking operation, after its plan, for is_for().
    void note_call(const Module& module, const Call& call) noexcept;
    // Whether it is complete, and its schedule may be started again for this call.
    bool is_for(const Module& module, const Call& call) const noexcept { return _module == &module && _call == call; }
    // Gives up what it has of the plan, and itself to the engine.
    void release_plan() noexcept;
    // The same where it has been kept for another call.
    void leave_kept() noexcept;
    // Keeps the objects of a call, which the program may free while the operation is outstanding. MPI code.
    int hold(const Call& call) noexcept;
    // Allocates what a start needs. MPI code.
    int prepare() noexcept;
    void set_tag(int value) noexcept { _tag = value; }
    int tag() const noexcept { return _tag; }
    // Before it is released: the tag stays in use by another operation.
    void leave_tag() noexcept { _tag = no_tag; }
    // Of a persistent operation, when it has its tag: makes persistent requests of the messages, at most `limit`, which
    // each start only starts again. MPI code.
    int bind_messages(std::size_t limit) noexcept;
    // Then: has channels carry those of the bound messages for which that is faster. Called by all members; blocks. An
    // MPI code; MPI_ERR_NO_MEM: the others wait until it is called again, with success.
    int bind_channels() noexcept;
    // The same for a member that others wait for already: is tried again as long as memory is short.
    int bind_channels_when_there_is_memory() noexcept;
    // In the place of bind_channels(): has the starts run by what the module has for that (JointStart), if all members
    // can and each of them wants it; otherwise by the schedule, with channels.
    int bind_jointly(Module& module, const Call& call, bool wanted) noexcept;
    bool has_tried_channels() const noexcept { return _looks != nullptr || _joint != nullptr; }
    // Ends the steps whose messages of channels have come, and starts what waited for them; or advances a joint start.
    // Returns the number of events. In a poll, or where there can be none on another thread.
    int look() noexcept;
    // Starts a persistent operation, waits until it is complete, and makes it inactive. Returns its code.
    int run_once() noexcept;
    // Has the next poll start the schedule; the request is active.
    void begin() noexcept { _begin.post(); }
    // Sends the first messages before the caller continues its computation. A poll would store messages that no receive
    // waits for yet, with each start some more: there is one only where another thread may poll.
    void begin_at_once() noexcept;
    void activate() noexcept { set_active(); }

    int start() noexcept override;
    int cancel() noexcept override;
    int finish(MPI_Status*) noexcept override {
        gate->finish(); // there is one that follows the completion
        return error;
    }
    std::string_view refuses_free() const noexcept override;
    std::string_view cause() const noexcept override { return _cause; }
    std::int32_t references_to_comm() const noexcept override;

    Schedule schedule;
    std::unique_ptr<Gate> gate; // null: none, as without the checking mode
    // In the list of Outstanding, in that of the engine's watched operations (is_watched), or `next` alone in that of
    // its unused operations.
    Operation* next = nullptr;
    Operation* previous = nullptr;
    bool is_watched = false;
    std::uint32_t sequence = 0; // of a nonblocking operation

private:
    static constexpr int no_tag = 0;

    // How far a step is.
    struct Progression : Continuation {
        Progression(Operation& owner, StepId step) noexcept
            : Continuation(*owner.progress, &run_item),
              operation(owner),
              id(step) {}
        static void run_item(ReadyItem& item) noexcept;

        Operation& operation;
        Request* message = nullptr;
        Request* bound = nullptr; // the persistent request of the step's message; nullptr: none
        const StepId id;
        std::uint32_t waits = 0; // the steps that have to end or start before
        bool by_channel = false; // `bound` is a channel
        bool shortened = false;  // the channel of a send is bound to no elements
        StepId next_ready = no_step;
        bool ended = false;
        bool empty = false;       // the message is being sent or received with no elements after an error
        bool unreachable = false; // no message can be sent to the peer, which will send none
    };
    // Steps that wait for nothing more, first in, first out.
    struct ReadySteps {
        StepId first = no_step;
        StepId last = no_step;
    };
    // Has a poll call a member function.
    template <void (Operation::*Function)() noexcept>
    struct Deferred : Continuation {
        Deferred(Progress& waits, Operation& owner) noexcept
            : Continuation(
                  waits, [](ReadyItem& item) noexcept { (static_cast<Deferred&>(item).operation.*Function)(); }),
              operation(owner) {}
        Operation& operation;
    };
    struct GateEnd final : Completion {
        explicit GateEnd(Operation& owner) noexcept
            : operation(owner) {}
        void end(int result) noexcept override {
            code = result;
            operation._open.post();
        }
        Operation& operation;
        int code = MPI_SUCCESS;
    };
    // The progressions of all steps, in memory that is kept for the next schedule.
    class Progressions {
    public:
        Progressions() = default;
        ~Progressions();
        Progressions(const Progressions&) = delete;
        Progressions& operator=(const Progressions&) = delete;
        // false: memory is exhausted.
        bool make(Operation& owner, std::size_t count) noexcept;
        Progression& operator[](StepId id) noexcept { return _memory[id]; }

    private:
        Progression* _memory = nullptr;
        std::size_t _capacity = 0;
    };

    void prepare_release() noexcept override;
    int retire() noexcept override;
    void check() noexcept override;
    void leave_to_polls() noexcept override;
    void end(int code) noexcept override; // by an Execution
    void begin_start() noexcept;
    void end_gate() noexcept;
    void start_now() noexcept; // the joint start or the steps
    void start_steps() noexcept;
    void run_ready_steps() noexcept;
    void run_step(StepId id) noexcept;
    void make_ready(StepId id) noexcept;
    StepId take_ready() noexcept;
    void release(StepId id) noexcept; // one step less for it to wait for
    void end_step(StepId id) noexcept;
    int bind_message(const Step& step, Request** made) noexcept;
    int try_to_bind_channels(ChannelBinder& binder) noexcept;
    int look_at_channels() noexcept;
    void begin_joint_start(bool alone) noexcept;
    void watch_joint_start() noexcept;
    bool advance_joint_start(int looks) noexcept;
    void end_joint_start(int code) noexcept;
    void release_bound() noexcept;
    void start_message(StepId id) noexcept;
    void start_send(StepId id) noexcept;
    void start_recv(StepId id) noexcept;
    void send_by_channel(StepId id, bool empty) noexcept;
    void recv_by_channel(StepId id) noexcept;
    void watch(StepId id) noexcept;
    void watch_channel(StepId id) noexcept;
    void end_message(StepId id) noexcept;
    void end_send(StepId id, int code) noexcept;
    void end_recv(StepId id, int code, std::uint64_t bytes) noexcept;
    void abandon_peer(const Step& send) noexcept;
    bool failed() const noexcept { return _code != MPI_SUCCESS; }
    void fail(int code, std::string_view text = {}) noexcept;
    void finish_start() noexcept;

    Engine& _engine;
    ReleasedList::Entry _released{*this};
    Deferred<&Operation::begin_start> _begin;
    Deferred<&Operation::finish_start> _end; // after an Execution
    Deferred<&Operation::end_gate> _open;    // after a Gate
    Deferred<&Operation::watch_joint_start> _watch;
    GateEnd _gate_end{*this};
    Progressions _progressions;
    std::unique_ptr<JointStart> _joint; // null: the schedule runs
    // A joint start was begun where no other thread polls, and has contributed: check() alone advances it.
    std::atomic<bool> _is_left_to_check{false};
    std::vector<Request*> _bound;     // the persistent requests of the messages
    std::unique_ptr<StepId[]> _looks; // steps whose messages of channels are under way
    std::size_t _look_count = 0;
    std::vector<Ref<Datatype>> _types;
    Ref<Op> _op;
    const Module* _module = nullptr;       // nullptr: the schedule is not started again for another call
    Call _call;                            // with _module only
    Ref<Communicator> _comm;               // null for a predefined one, where set_up() does not keep it
    CompleteReference _complete_reference; // that one, of a nonblocking operation
    int _tag = no_tag;
    int _code = MPI_SUCCESS; // the first error of this start
    std::size_t _left = 0;   // steps that have not ended
    ReadySteps _ready_sends; // these are run before the others
    ReadySteps _ready;
    bool _running = false; // run_ready_steps() is under way
    std::string _cause;
};

} // namespace patchbay::coll
