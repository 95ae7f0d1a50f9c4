// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/component/component.h"
#include "frameworks/coll/call.h"
#include "frameworks/coll/joint_start.h"
#include "object/communicator.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Context;

// coll: collectives, chosen per communicator, per function and per form (blocking, nonblocking, persistent): each
// component that offers a module for a communicator declares what it provides, and for each function and form the
// highest priority wins. Chosen by parameter `coll` or info key `patchbay_coll` ("a,b" or "^a") on the communicator's
// constructor.
//
// A module describes an operation once, as a plan (schedule.h), and has all three forms of it. Where a blocking
// function of its own is faster than the plan, the module overrides that function, too.
//
// Common rules for every operation:
//  - All members call in the same order, and each module must choose the same messages in all members: by what the
//    standard requires to be equal in all of them (function, form, root, signature), never by local state.
//  - Arguments have been checked; MPI_IN_PLACE arrives as such. Buffers are as in MPI-5.0, chapter 6.
//  - After an error a member still takes part in every message that others wait for (transfer.h and the engine do
//    that); in a collective of which its own is made, it goes through the plan of a schedule that has failed
//    (Schedule::fail). So the others return an error or know nothing of it, but never wait for ever.
//  - The neighbourhood functions are called on communicators with a topology only (Communicator::topology). The
//    neighbours of the members differ, and so may their counts; a module must not choose its messages by them.
namespace coll {

inline constexpr std::uint32_t interface_version = 18;

class Engine;
class Module;
class Schedule;
class ScratchPool;
class Table;
class ThreadTeam;

// What a module keeps of one communicator, where its table may serve several: whatever the module derives from this
// class. The module makes it in an operation (Module::keep), and it is destroyed with the communicator, before the
// module.
class CommData {
public:
    virtual ~CommData() = default;

private:
    friend class Module;
    const Module* _owner = nullptr;
    std::unique_ptr<CommData> _next; // of another module
};

class Module {
public:
    virtual ~Module() = default;
    // The library's part, when a communicator ends: destroys what modules keep of it.
    static void forget(Communicator& comm) noexcept;

    // What the module provides. Constant. Called once, during the selection.
    virtual Provided provides() const noexcept = 0;

    // Adds the steps of this member to `schedule`, which is empty or holds the steps of an operation of which this one
    // is a part. The communicator is schedule.comm(). Called once per operation, by MPI_Ibcast and the like or by
    // MPI_Bcast_init and the like, on the calling thread; by the default of the blocking functions below; and by the
    // plans of other modules. Not called for a nonblocking operation where the engine has the schedule of the same call
    // still and the module has allowed that (Schedule::may_repeat). Must neither communicate nor wait. All members of
    // the communicator call it for the same operations in the same order. A member in which MPI_Ibcast returns an
    // error, also one after this call, may call it again for the same operation; a module that keeps state for its
    // plans must bear that.
    //
    // MPI_SUCCESS: the engine starts the schedule, a persistent one at every MPI_Start. Any other code: the operation
    // has not begun in this member, and the others wait in it; return one only where not even the steps can be added.
    // An error after which the messages to others are still possible, such as scratch memory that could not be
    // allocated, is noted by Schedule::fail(), and the plan goes on.
    virtual int plan(const Call& call, Schedule& schedule) noexcept;

    // Several schedules for one persistent operation. Where the info of MPI_Bcast_init and the like has patchbay_effort
    // = 3 in all members, the engine times all of them and keeps the fastest one. A module without alternatives
    // overrides none of these four.
    //
    // How many schedules there are for the call; number 0 is that of plan(). Called by the engine in the init function
    // of functions whose result is one block (not those with several counts, and not those of neighbourhoods), on
    // communicators of processes of one job, for predefined ops. Constant; must not block. Whether there are several
    // must depend on function, form and communicator only; which these are may depend on all that is equal in all
    // members, as a plan does.
    virtual std::size_t candidates(const Call& call, const Communicator& comm) const noexcept {
        (void)call, (void)comm;
        return 1;
    }
    // Adds the steps of candidate `number`, 1 or more, as plan() does; the same rules hold, and the results are the
    // same. Called after plan() for the same call, in all members. Any code but MPI_SUCCESS: this candidate is used by
    // no member.
    virtual int plan_candidate(std::size_t number, const Call& call, Schedule& schedule) noexcept {
        (void)number;
        return plan(call, schedule);
    }
    // The choice is made: a module that counts what its operations use counts this. Called once after plan(), wherever
    // there are several candidates, also if none was timed (`number` is 0 then). Must not block.
    virtual void keep_candidate(std::size_t number, const Call& call, const Communicator& comm) noexcept {
        (void)number, (void)call, (void)comm;
    }
    // What --explain calls the candidate. Throws std::bad_alloc.
    virtual std::string candidate_name(std::size_t number, const Call& call, const Communicator& comm) const {
        (void)call, (void)comm;
        return std::to_string(number);
    }

    // For a module that can run a persistent operation elsewhere than by the messages of its plan, which is made all
    // the same. Sets *made, or leaves it null: whether it does must depend on function and communicator only. Called by
    // the engine in the init function, after plan(), for operations that are no part of another one; not in the
    // checking mode, and not for candidates, so that one which this module offers in the place of its plan has number
    // 0. Must neither communicate nor wait. MPI_ERR_NO_MEM: the init function returns it, and nothing has begun.
    virtual int make_joint_start(const Call& call, Communicator& comm, std::unique_ptr<JointStart>* made) noexcept {
        (void)call, (void)comm, (void)made;
        return MPI_SUCCESS;
    }

    // The blocking functions are called by the bindings on the calling thread, once per MPI call. They may block, with
    // the library's waiting policy. They send on the communicator's pml with the tag of the function (tags.h), never a
    // user's tag. They return an MPI code. The default is blocking().
    virtual int barrier(Communicator&) noexcept;
    virtual int bcast(void* buffer, MPI_Count count, const Datatype&, int root, Communicator&) noexcept;
    virtual int gather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int gatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int scatter(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int scatterv(const void* send, CountArray send_counts, CountArray displacements, const Datatype& send_type,
        void* recv, MPI_Count recv_count, const Datatype& recv_type, int root, Communicator&) noexcept;
    virtual int allgather(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, Communicator&) noexcept;
    virtual int allgatherv(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        CountArray recv_counts, CountArray displacements, const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoall(const void* send, MPI_Count send_count, const Datatype& send_type, void* recv,
        MPI_Count recv_count, const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoallv(const void* send, CountArray send_counts, CountArray send_displacements,
        const Datatype& send_type, void* recv, CountArray recv_counts, CountArray recv_displacements,
        const Datatype& recv_type, Communicator&) noexcept;
    virtual int alltoallw(const void* send, const TypedVector& send_side, void* recv, const TypedVector& recv_side,
        Communicator&) noexcept;
    virtual int reduce(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, int root, Communicator&) noexcept;
    virtual int allreduce(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int reduce_scatter(
        const void* send, void* recv, CountArray counts, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int reduce_scatter_block(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int scan(const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;
    virtual int exscan(
        const void* send, void* recv, MPI_Count count, const Datatype&, const Op&, Communicator&) noexcept;

    // What each of these functions does unless it is overridden, and the blocking form of the neighbourhood functions:
    // the default plans the operation and runs the plan.
    virtual int blocking(const Call& call, Communicator& comm) noexcept;

    // The part of a member that has failed in the blocking operation that `call` names, where that is a part of another
    // operation: the member does what the others wait for, contributes nothing, does not touch the buffers, and has
    // those that depend on it return an error. `code`: its error. Called in the place of the blocking function by
    // modules that are made of operations of other communicators. The default goes through the plan of a schedule that
    // has failed, and so suits modules whose blocking functions send the messages of their plans.
    virtual void blocking_failed(const Call& call, Communicator& comm, int code) noexcept;

    // Calls the blocking function that `call` names.
    int run_blocking(const Call& call, Communicator& comm) noexcept;

protected:
    // What this module keeps of the communicator; nullptr: nothing yet. For operations on the communicator only, of
    // which the program calls one after the other; takes a few nanoseconds.
    CommData* data_of(const Communicator& comm) const noexcept {
        CommData* data = comm.coll_data;
        while (data != nullptr && data->_owner != this) {
            data = data->_next.get();
        }
        return data;
    }
    // For a module that serves a communicator only after some calls: counts one, and returns how many there were
    // before. At most one module of a communicator may count, in its blocking functions.
    static std::uint32_t count_call(Communicator& comm) noexcept { return comm.coll_calls++; }
    // Has the communicator keep `data` for this module, which has none there yet. In a blocking operation only.
    void keep(Communicator& comm, std::unique_ptr<CommData> data) const noexcept;
};

// The modules of lower priority than one that was selected, for the operations that it passes on.
class Below {
public:
    // The first module with a lower priority that provides the function in that form; nullptr: there is none. Not to be
    // called before the selection is complete, that is, only from the module's operations. The result is constant for
    // each function and form. A module that passes an operation on decides that as it decides everything else: in all
    // members alike.
    Module* find(Function f, Form form) const noexcept;
    Module* find(const Call& call, Form form) const noexcept { return find(call.function, form); }

private:
    friend class Selector;
    const Table* _table = nullptr;
    std::size_t _position = 0; // of the module in the table
};

// The question to a component whether it serves a communicator.
struct Query {
    Context& context;
    Communicator& comm; // its pml knows it; its groups, ranks, hints and topology are set
    // Valid as long as the module.
    const Below& below;
    // Set by refuse_all(); the selector reads it.
    bool refusal_is_shared = false;
    // The members that are threads of this process; null: the ranks of the communicator are processes, or it is an
    // intercommunicator.
    std::shared_ptr<ThreadTeam> team;

    // Results of query(): not for this communicator. `reason` is for --explain ("serves ... only").
    //
    // The refusal depends on this communicator: on the placement of its processes, say. It is asked for each one.
    Error refuse(std::string_view reason) const { return {Errc::not_available, std::string(reason)}; }
    // Every communicator with as many processes, of the same kind (intra, inter) and with the same kind of topology
    // (none, MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH) is refused as well, so that the component need not be asked for them.
    // This must be true in all members of all of them.
    Error refuse_all(std::string_view reason) {
        refusal_is_shared = true;
        return refuse(reason);
    }
};

class Component : public patchbay::Component {
public:
    struct Candidate {
        int priority = 0;
        std::unique_ptr<Module> module;
        // The module itself keeps nothing of its communicator (Module::keep does), and the same offer holds for every
        // communicator of this size and kind, with the same kind of topology, whose info names no component and whose
        // members are all of the own job: it may serve all of these, and no further query is made for them. Their
        // neighbours may be different.
        bool shared = false;
        // The module passes operations on (Query::below): modules that provide nothing else are kept for it.
        bool passes_on = false;
    };

    // Called for every new communicator, after its pml knows it, by every member, on the thread that constructs it.
    // Must not communicate. Errc::not_available (Query::refuse, Query::refuse_all): not for this communicator.
    // Errc::out_of_memory: the constructor fails. Any other error is reported as a warning, and the component is left
    // out.
    virtual Result<Candidate> query(Query& query) = 0;
    // Interposer: called with each module of a new communicator when parameter coll_wrap names this component, by every
    // member, after the queries and on the same thread. Must not communicate. The component may put a module of its own
    // in the place of `module`, which then owns the former one, provides the same, and is destroyed instead of it; the
    // former one does not know. A table with such a module serves one communicator. Errc::not_available: the component
    // does not wrap this one; any other error fails the selection. After an error `module` is as it was.
    virtual Status wrap(Context& context, Communicator& comm, std::unique_ptr<Module>& module) {
        (void)context, (void)comm, (void)module;
        return Error{Errc::unsupported, "it wraps no coll"};
    }
};

// What a communicator holds: its modules, and which one serves which function. Counted: communicators whose modules all
// can be shared, and for which all refusals are shared, share the table.
class Table {
public:
    // The module of the blocking functions.
    Module& operator[](Function f) const noexcept { return *_serving[std::size_t(Form::blocking)][std::size_t(f)]; }
    // nullptr: no component provides it, which is possible only for functions that are not defined on this kind of
    // communicator.
    Module* find(Function f, Form form) const noexcept { return _serving[std::size_t(form)][std::size_t(f)]; }
    // The component of that module; empty: there is none.
    std::string_view component_of(Function f, Form form) const noexcept;
    bool is_shared() const noexcept { return _shared; }
    // Runs the plans of this process.
    Engine& engine() const noexcept { return *_engine; }
    // From which blocking functions take their temporary memory; that of plans is Schedule::scratch().
    ScratchPool& scratch_pool() const noexcept;

    void retain() noexcept { _users.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (_users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy();
        }
    }

private:
    friend class Below;
    friend class Selector;
    struct Entry {
        std::unique_ptr<Below> below; // destroyed after the module
        std::unique_ptr<Module> module;
        Provided provided;
        std::string component;
    };
    explicit Table(Engine& engine) noexcept;
    ~Table();
    void destroy() noexcept;
    // Has the module serve what no other one serves yet. Returns whether there was such a thing.
    bool serve(Module& module, const Provided& provided) noexcept;
    // Has `module`, which wraps the former one, serve in its place.
    void replace(Module* former, Module& module) noexcept;

    std::array<std::array<Module*, function_count>, form_count> _serving{};
    Engine* _engine;
    std::atomic<std::uint32_t> _users{1};
    bool _shared = true;
    std::vector<Entry> _entries; // highest priority first
};

// For a plan of which an operation on another communicator is a part, one that belongs to schedule.comm()
// (Schedule::On): adds the steps of the module that serves it there. Returns what its plan() returns.
int plan_part(const Call& call, Communicator& comm, Schedule& schedule) noexcept;

} // namespace coll
} // namespace patchbay
