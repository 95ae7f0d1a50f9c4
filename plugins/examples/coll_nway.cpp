// SPDX-License-Identifier: BSD-3-Clause
// coll/nway: MPI_Barrier by n-way dissemination. In each round a process sends to n others instead of one, which takes
// fewer rounds: ceil(log_{n+1} size). T. Hoefler, T. Mehlan, F. Mietke, W. Rehm: "Fast Barrier Synchronization for
// InfiniBand", IPDPS 2006, section 3.
#include "core/component/describe.h"
#include "core/core.h"
#include "core/tool/registry.h"
#include "frameworks/coll/batch.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/tags.h"
#include "frameworks/coll/transfer.h"
#include "object/handle.h"

using namespace patchbay;

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to serve MPI_Barrier", "0..100"},
    {"ways", ParamType::integer, "3", "processes to which each process sends in one round of MPI_Barrier", "1..16"},
};

constexpr VariableSpec variables[] = {
    {"rounds", VariableClass::counter, "rounds of messages in all calls of MPI_Barrier"},
};

// The values of the variables, which tools read through MPI_T.
class Rounds final : public ToolSource {
public:
    Rounds() noexcept
        : ToolSource("coll", "nway") {}
    std::optional<std::uint64_t> read(std::size_t, const void*, std::size_t) noexcept override { return count.load(); }
    std::atomic<std::uint64_t> count{0};
};

class NwayModule final : public coll::Module {
public:
    NwayModule(std::int64_t ways, Rounds& rounds)
        : _ways(ways),
          _rounds(rounds) {}
    coll::Provided provides() const noexcept override {
        return coll::Provided::only_blocking({coll::Function::barrier});
    }

    // A process in round r has received messages, directly or not, from the (n+1)^r - 1 processes below it.
    int barrier(Communicator& comm) noexcept override {
        coll::Transfer transfer(comm, coll::tag_of(coll::Function::barrier));
        const Datatype& byte = *to_object<Datatype>(MPI_BYTE);
        const std::int64_t size = comm.size;
        for (std::int64_t reach = 1; reach < size; reach *= _ways + 1) {
            const std::int64_t ways = std::min(_ways, (size - 1) / reach);
            coll::Batch receives(transfer);
            for (std::int64_t i = 1; i <= ways; ++i) {
                receives.irecv(nullptr, 0, byte, int((comm.rank - i * reach + size) % size));
            }
            for (std::int64_t i = 1; i <= ways; ++i) {
                transfer.send(nullptr, 0, byte, int((comm.rank + i * reach) % size));
            }
            receives.finish();
            _rounds.count.fetch_add(1, std::memory_order_relaxed);
        }
        return transfer.code();
    }

private:
    std::int64_t _ways;
    Rounds& _rounds;
};

class NwayComponent final : public coll::Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("coll_nway_priority").as_int());
        _ways = core.params.at("coll_nway_ways").as_int();
        _tool = &core.tool;
        _tool->add(_rounds);
        return {};
    }
    void close() noexcept override { _tool->remove(_rounds); }
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<Candidate> query(coll::Query& query) override {
        if (query.comm.is_inter || query.comm.size == 1) {
            return query.refuse_all("serves intracommunicators of two and more");
        }
        std::unique_ptr<coll::Module> module(new (std::nothrow) NwayModule(_ways, _rounds));
        return module ? Result<Candidate>(Candidate{_priority, std::move(module)})
                      : Error{Errc::out_of_memory, "no memory for a module"};
    }

private:
    int _priority = 0;
    std::int64_t _ways = 0;
    Rounds _rounds;
    ToolRegistry* _tool = nullptr;
};

} // namespace

PATCHBAY_COMPONENT = describe<NwayComponent>(
    "coll", coll::interface_version, "nway", "1.0.0", "n-way dissemination barrier", params, ToolTables(variables));
