// SPDX-License-Identifier: BSD-3-Clause
// A template: a `coll` component that provides MPI_Barrier and no other collective. Rename "mycoll" here and in the
// Makefile, then replace the protocol.
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/schedule.h"
#include "object/handle.h"

using namespace patchbay;

namespace {

// The full name of this parameter is coll_mycoll_priority; patchbay-info lists it as soon as it finds the file.
constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to serve MPI_Barrier", "0..100"},
};

// One module serves one communicator. For a function that it does not provide, the component with the next lower
// priority is selected.
class MyModule final : public coll::Module {
public:
    // One plan is MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init.
    coll::Provided provides() const noexcept override { return coll::Provided::planned({coll::Function::barrier}); }

    // A token goes round the ring twice: after the first round all members have called MPI_Barrier, and in the second
    // round each member that receives it may return.
    int plan(const coll::Call&, coll::Schedule& schedule) noexcept override {
        const Communicator& comm = schedule.comm();
        const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
        const int next = (comm.rank + 1) % comm.size;
        const int previous = (comm.rank + comm.size - 1) % comm.size;
        for (int round = 0; round < 2; ++round) {
            if (comm.rank != 0) {
                schedule.recv(nullptr, 0, byte, previous);
                schedule.round(); // the send waits for the receive
            }
            schedule.send(nullptr, 0, byte, next);
            if (comm.rank == 0) {
                schedule.recv(nullptr, 0, byte, previous);
            }
            schedule.round();
        }
        return MPI_SUCCESS; // errors of messages are not the plan's business: the engine sees to them
    }
};

class MyComponent final : public coll::Component {
public:
    // Called once, when the framework is opened. Read parameters here; do not communicate.
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_mycoll_priority").as_int());
        return {};
    }
    // Where a capability is required that is not in this list, the component is no candidate.
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }

    // Called once per new communicator, in every member. Errc::not_available: the component does not serve this
    // communicator; mpirun --explain prints the text.
    Result<Candidate> query(coll::Query& query) override {
        if (query.comm.is_inter || query.comm.size == 1) {
            return query.refuse_all("serves intracommunicators of two and more");
        }
        std::unique_ptr<coll::Module> module(new (std::nothrow) MyModule);
        if (!module) {
            return Error{Errc::out_of_memory, "no memory for a module"};
        }
        return Candidate{_priority, std::move(module)};
    }

private:
    int _priority = 0;
};

} // namespace

PATCHBAY_COMPONENT =
    describe<MyComponent>("coll", coll::interface_version, "mycoll", "0.1.0", "barrier that goes round a ring", params);
