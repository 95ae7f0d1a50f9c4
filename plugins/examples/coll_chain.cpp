// SPDX-License-Identifier: BSD-3-Clause
// coll/chain: MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init by one plan. Each segment is reduced along the chain
// of ranks from the last one to rank 0, and sent back; many are under way. Short messages go to the next component.
#include "core/component/describe.h"
#include "core/core.h"
#include "frameworks/coll/coll.h"
#include "frameworks/coll/schedule.h"
#include "frameworks/coll/typed_buffer.h"

using namespace patchbay;

namespace {

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to serve MPI_Allreduce", "0..100"},
    {"from", ParamType::size, "64KiB", "bytes from which MPI_Allreduce goes along the chain"},
    {"segments", ParamType::integer, "16", "parts into which the data is divided", "1.."},
};

struct Settings {
    int priority = 0;
    std::size_t from = 0;
    std::int64_t segments = 1;
};

class ChainModule final : public coll::Module {
public:
    ChainModule(const Settings& settings, const coll::Below& below)
        : _settings(settings),
          _below(below) {}
    coll::Provided provides() const noexcept override { return coll::Provided::planned({coll::Function::allreduce}); }

    int plan(const coll::Call& call, coll::Schedule& schedule) noexcept override {
        if (coll::Module* other = next(call, schedule.form())) {
            return other->plan(call, schedule);
        }
        const Datatype& type = *call.recv_type;
        const MPI_Count count = call.recv_count;
        const bool in_place = call.send == MPI_IN_PLACE;
        const void* mine = in_place ? call.recv : call.send;
        void* partial = in_place ? schedule.scratch(count, type) : call.recv; // of this rank and those above
        // As many segments for each count, so that members with different counts get an error instead of waiting.
        for (MPI_Count i = 0; i < _settings.segments; ++i) {
            const MPI_Count first = count * i / _settings.segments;
            add_segment(call, schedule, mine, partial, first, count * (i + 1) / _settings.segments - first);
        }
        return MPI_SUCCESS;
    }
    // Of a short message: the blocking function of the next component, which may be faster than its plan.
    int blocking(const coll::Call& call, Communicator& comm) noexcept override {
        coll::Module* other = next(call, coll::Form::blocking);
        return other != nullptr ? other->run_blocking(call, comm) : Module::blocking(call, comm);
    }

private:
    // The component that serves this operation instead; all members have the same signature, and so decide alike.
    coll::Module* next(const coll::Call& call, coll::Form form) const noexcept {
        const std::size_t bytes = std::size_t(call.recv_count) * std::size_t(call.recv_type->size);
        return bytes < _settings.from ? _below.find(call, form) : nullptr;
    }
    // The steps of a segment wait for one another, and not for those of other segments.
    static void add_segment(const coll::Call& call, coll::Schedule& schedule, const void* mine, void* partial,
        MPI_Count first, MPI_Count count) noexcept {
        const coll::Schedule::Section section(schedule);
        const Datatype& type = *call.recv_type;
        const auto part = [&](auto* buffer) { return coll::element(buffer, first, type); };
        const int rank = schedule.comm().rank;
        const int last = schedule.comm().size - 1;
        if (rank < last) { // higher ranks are the right side of the operation
            schedule.recv(part(partial), count, type, rank + 1);
            schedule.round();
            schedule.reduce(part(mine), part(partial), count, type, *call.op);
            schedule.round();
        }
        const void* combined = rank < last ? partial : mine;
        if (rank > 0) {
            schedule.send(part(combined), count, type, rank - 1);
            schedule.round(); // `recv` may be the buffer of the send
            schedule.recv(part(call.recv), count, type, rank - 1);
            schedule.round();
        } else if (combined != call.recv) {
            schedule.copy(part(combined), count, type, part(call.recv), count, type);
            schedule.round();
        }
        if (rank < last) {
            schedule.send(part(call.recv), count, type, rank + 1);
        }
    }

    const Settings _settings;
    const coll::Below& _below;
};

class ChainComponent final : public coll::Component {
public:
    Status open(Core& core) override {
        _settings = {int(core.params.at("coll_chain_priority").as_int()), core.params.at("coll_chain_from").as_size(),
            core.params.at("coll_chain_segments").as_int()};
        return {};
    }
    Capability capabilities() const noexcept override { return Capability::thread_multiple | Capability::sessions; }
    Result<Candidate> query(coll::Query& query) override {
        if (query.comm.is_inter || query.comm.size == 1) {
            return query.refuse_all("serves intracommunicators of two and more");
        }
        std::unique_ptr<coll::Module> module(new (std::nothrow) ChainModule(_settings, query.below));
        return module ? Result<Candidate>(Candidate{_settings.priority, std::move(module), true, true})
                      : Error{Errc::out_of_memory, "no memory for a module"};
    }

private:
    Settings _settings;
};

} // namespace

PATCHBAY_COMPONENT = describe<ChainComponent>(
    "coll", coll::interface_version, "chain", "1.0.0", "MPI_Allreduce along a chain, in segments", params);
