// SPDX-License-Identifier: BSD-3-Clause
// A component to start from: a `coll` component that provides MPI_Barrier and leaves all other collectives to others.
// Rename "mycoll" here and in the Makefile, then replace the protocol.
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "object/handle.h"

using namespace patchbay;

namespace {

// The full name of this parameter is coll_mycoll_priority; patchbay-info lists it as soon as it finds the file.
constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to serve MPI_Barrier (0 to 100)"},
};

// One module serves one communicator. What it does not provide is served by the next best component.
class MyModule final : public coll::Module {
public:
    std::uint32_t provides() const noexcept override { return 1u << int(coll::Function::barrier); }

    // A token goes round twice: when it is back everybody has come, when it passes again everybody may go.
    int barrier(Communicator& comm) noexcept override {
        coll::Transfer transfer(comm, coll::tag_of(coll::Function::barrier));
        const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
        const int next = (comm.rank + 1) % comm.size;
        const int previous = (comm.rank + comm.size - 1) % comm.size;
        for (int round = 0; round < 2; ++round) {
            if (comm.rank != 0) {
                transfer.recv(nullptr, 0, byte, previous);
            }
            transfer.send(nullptr, 0, byte, next);
            if (comm.rank == 0) {
                transfer.recv(nullptr, 0, byte, previous);
            }
        }
        return transfer.code(); // after an error the rest of the messages still goes out: others wait for them
    }
};

class MyComponent final : public coll::Component {
public:
    // Once, when the framework opens. Read parameters here; do not communicate.
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_mycoll_priority").as_int());
        return {};
    }
    // What is lacking here makes the component no candidate where it is needed.
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }

    // Once per new communicator, in every member. Errc::not_available says "not for this one"; the text is shown by
    // mpirun --explain.
    Result<Candidate> query(Instance&, Communicator& comm) noexcept override {
        if (comm.is_inter || comm.size == 1) {
            return Error{Errc::not_available, "serves intracommunicators of two and more"};
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
