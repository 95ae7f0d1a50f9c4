// SPDX-License-Identifier: BSD-3-Clause
#include "components/coll/sm/module.h"
#include "components/common/node_memory.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/runtime.h"

#include <algorithm>

namespace patchbay::coll::sm {

namespace {

constexpr char where_names[] = "auto,shared_cores,always"; // in the order of Where
enum class Where : std::uint8_t { automatic, shared_cores, always };

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "50", "how much this component wants to serve a communicator", "0..100",
        ParamLevel::tuner_basic, ParamScope::all_equal},
    {"where", ParamType::enumeration, "auto",
        "which communicators it serves: auto (those of 2 processes, and all where processes share cores), shared_cores "
        "(only where processes share cores), always",
        where_names, ParamLevel::tuner_basic, ParamScope::all_equal},
    {"after", ParamType::integer, "16",
        "how many blocking collectives on a communicator are left to the next component before this one takes memory "
        "for it",
        "0..1000000000", ParamLevel::tuner_detail, ParamScope::all_equal},
    {"longest", ParamType::size, "4KiB",
        "the most bytes that a process contributes to a collective that is served where processes share cores. In a "
        "scatter or an all-to-all that is the sum of its blocks",
        "0..4KiB", ParamLevel::tuner_detail, ParamScope::all_equal},
    {"longest_own_cores", ParamType::size, "1KiB", "the same where each process has a core of its own", "0..4KiB",
        ParamLevel::tuner_detail, ParamScope::all_equal},
    {"longest_mutual_own_cores", ParamType::size, "48",
        "the same, of an allreduce, allgather or all-to-all, in which both directions of the connection are in use",
        "0..4KiB", ParamLevel::tuner_detail, ParamScope::all_equal},
    {"most_ranks", ParamType::integer, "256",
        "the largest communicator that it serves, each member of which takes 4 KiB, or 132 KiB with contributions of "
        "more than 48 bytes",
        "0..1000000", ParamLevel::tuner_detail, ParamScope::all_equal},
    {"most_persistent", ParamType::integer, "64",
        "how many persistent operations of communicators of one size it serves at a time, each of which takes the "
        "memory of a communicator",
        "0..1000000", ParamLevel::tuner_detail, ParamScope::all_equal},
};

class SmComponent final : public Component {
public:
    Status open(Core& core) override {
        const ParamRegistry& registry = core.params;
        _priority = int(registry.at("coll_sm_priority").as_int());
        _where = Where(registry.at("coll_sm_where").as_enum());
        _after = std::uint32_t(registry.at("coll_sm_after").as_int());
        _most_ranks = int(registry.at("coll_sm_most_ranks").as_int());
        _most_persistent = int(registry.at("coll_sm_most_persistent").as_int());
        const auto length = [&registry](const char* name) {
            return MPI_Count(std::min(longest_contribution, std::size_t(registry.at(name).as_size())));
        };
        _longest = length("coll_sm_longest");
        _longest_own_cores = length("coll_sm_longest_own_cores");
        _longest_mutual_own_cores = std::min(_longest_own_cores, length("coll_sm_longest_mutual_own_cores"));
        // All processes of a job on one node know the same of it.
        const Runtime* runtime = core.runtime;
        _one_node = runtime != nullptr && runtime->local_size() == runtime->size();
        _shared_cores = _one_node && runtime->oversubscribed();
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_node;
    }

    Result<Candidate> query(Query& query) override {
        const Communicator& comm = query.comm;
        if (comm.is_inter || comm.view != nullptr || comm.size == 1 || comm.size > _most_ranks) {
            return query.refuse_all("serves intracommunicators of 2 to coll_sm_most_ranks processes only");
        }
        const NodeSegment* node = query.context.core().node;
        if (node == nullptr) {
            return query.refuse("this process has no memory that it shares with others");
        }
        if (comm.group->has_other_jobs()) {
            // Members know of their own job only whether its processes share cores, and must decide alike.
            if (_where != Where::always) {
                return query.refuse("coll_sm_where does not ask for communicators of several jobs");
            }
        } else if (!serves(comm.size)) {
            return query.refuse_all(
                "coll_sm_where does not ask for communicators whose processes have cores of their own");
        }
        return unless_out_of_memory(
            Result<Candidate>(Error{Errc::out_of_memory, "no memory for a module"}), [&]() -> Result<Candidate> {
                if (!common::all_share_memory(query.context, *comm.group, *node)) {
                    return query.refuse("not all members share the memory of this node");
                }
                const bool shared_cores = _shared_cores && !comm.group->has_other_jobs();
                const Settings settings{_after, shared_cores ? _longest : _longest_own_cores,
                    shared_cores ? _longest : _longest_mutual_own_cores, _most_persistent};
                return Candidate{
                    _priority, std::make_unique<SmModule>(query.context, query.below, settings), _one_node, true};
            });
    }

private:
    bool serves(int ranks) const noexcept {
        return _where == Where::always || _shared_cores || (_where == Where::automatic && ranks == 2);
    }

    int _priority = 0;
    Where _where = Where::automatic;
    std::uint32_t _after = 0;
    int _most_ranks = 0;
    int _most_persistent = 0;
    MPI_Count _longest = 0;
    MPI_Count _longest_own_cores = 0;
    MPI_Count _longest_mutual_own_cores = 0;
    bool _one_node = false;
    bool _shared_cores = false;
};

} // namespace

} // namespace patchbay::coll::sm

PATCHBAY_COMPONENT = patchbay::describe<patchbay::coll::sm::SmComponent>("coll", patchbay::coll::interface_version,
    "sm", "1.0.0", "short blocking and persistent collectives by the memory of a node", patchbay::coll::sm::params);
