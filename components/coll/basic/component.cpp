// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/basic/basic.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

#include <new>

namespace patchbay::coll::basic {

namespace {

constexpr char pattern_names[] = "auto,linear,tree,doubling"; // in the order of Pattern

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "10", "how much this component wants to serve a communicator", "0..100"},
    {"barrier", ParamType::enumeration, "auto", "pattern of MPI_Barrier", pattern_names, ParamLevel::tuner_basic},
    {"allreduce", ParamType::enumeration, "auto",
        "pattern of short MPI_Allreduce: tree is not offered and means doubling", pattern_names,
        ParamLevel::tuner_basic},
    {"linear_up_to", ParamType::integer, "64",
        "ranks up to which auto chooses linear when the node has more ranks than cores", "0..1000000",
        ParamLevel::tuner_detail},
    {"ring_from", ParamType::size, "64KiB", "bytes from which MPI_Allreduce and MPI_Allgather go round a ring", nullptr,
        ParamLevel::tuner_detail},
};

class BasicComponent final : public Component {
public:
    Status open(Core& core) override {
        const ParamRegistry& registry = core.params;
        _priority = int(registry.at("coll_basic_priority").as_int());
        _settings.barrier = Pattern(registry.at("coll_basic_barrier").as_enum());
        _settings.allreduce = Pattern(registry.at("coll_basic_allreduce").as_enum());
        _settings.linear_up_to = int(registry.at("coll_basic_linear_up_to").as_int());
        _settings.ring_from = registry.at("coll_basic_ring_from").as_size();
        _settings.oversubscribed = core.runtime != nullptr && core.runtime->oversubscribed();
        return {};
    }

    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_network;
    }

    Result<Candidate> query(Query& query) override {
        if (query.comm.is_inter) {
            return query.refuse_all("serves intracommunicators only");
        }
        Settings settings = _settings;
        if (query.comm.group->has_other_jobs()) {
            settings.oversubscribed = false; // all members must choose alike, and know this of their own jobs only
        }
        std::unique_ptr<Module> module(new (std::nothrow) BasicModule(settings));
        if (!module) {
            return Error{Errc::out_of_memory, "no memory for a module"};
        }
        return Candidate{_priority, std::move(module), true};
    }

private:
    Settings _settings;
    int _priority = 0;
};

} // namespace

} // namespace patchbay::coll::basic

PATCHBAY_COMPONENT =
    patchbay::describe<patchbay::coll::basic::BasicComponent>("coll", patchbay::coll::interface_version, "basic",
        "1.0.0", "every collective over point-to-point: linear, trees, rings", patchbay::coll::basic::params);
