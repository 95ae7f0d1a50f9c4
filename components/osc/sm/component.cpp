// SPDX-License-Identifier: BSD-3-Clause
#include "components/common/node_memory.h"
#include "components/osc/sm/module.h"
#include "core/base/out_of_memory.h"
#include "core/component/describe.h"
#include "core/core.h"
#include "core/runtime/runtime.h"
#include "frameworks/context.h"

#include <algorithm>

namespace patchbay::osc::sm {

namespace {

constexpr char barrier_names[] = "auto,dissemination,central"; // in the order of BarrierKind

constexpr ParamSpec params[] = {
    {"priority", ParamType::integer, "60", "how much this component wants to serve a window", "0..100"},
    {"barrier", ParamType::enumeration, "auto",
        "how the members of a window wait for each other in MPI_Win_fence: dissemination (in rounds, by pairs), "
        "central "
        "(by one counter), auto (central where processes share cores)",
        barrier_names, ParamLevel::tuner_detail, ParamScope::all_equal},
};

Error refusal(const char* why) {
    return {Errc::not_available, why};
}

// Whether the ranks are threads of one process. The memory of that is theirs, wherever it comes from.
bool is_one_process(const Window& window) {
    const Group& group = *window.comm->group;
    for (int rank = 1; rank < window.size; ++rank) {
        const ProcessId process = group.process(rank), first = group.process(0);
        if (process.job != first.job || process.rank != first.rank) {
            return false;
        }
    }
    return true;
}

class SmComponent final : public Component {
public:
    Status open(Core& core) override {
        _priority = int(core.params.at("osc_sm_priority").as_int());
        _barrier = BarrierKind(core.params.at("osc_sm_barrier").as_enum());
        return {};
    }
    Capability capabilities() const noexcept override {
        return Capability::thread_multiple | Capability::sessions | Capability::peers_self | Capability::peers_node |
            Capability::peers_threads;
    }

    Result<int> query(Context& context, const Window& window) override {
        return unless_out_of_memory([&]() -> Result<int> {
            if (window.comm->view != nullptr) {
                return is_one_process(window) ? Result<int>(_priority)
                                              : refusal("the threads are those of several processes");
            }
            const NodeSegment* node = context.core().node;
            if (node == nullptr) {
                return refusal("this process has no memory that it shares with others");
            }
            if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
                return refusal("the memory of a dynamic window is not known to the other members");
            }
            const auto unreachable = [](const WindowMember& member) { return member.bytes > 0 && member.shared == 0; };
            if (window.size > 1 && std::ranges::any_of(window.members, unreachable)) {
                return refusal("a member has memory that the others cannot map");
            }
            if (!common::all_share_memory(context, *window.comm->group, *node)) {
                return refusal("not all members share the memory of this node");
            }
            return _priority;
        });
    }
    Result<std::unique_ptr<Module>> create(Context& context, Window& window) noexcept override {
        if (window.comm->view == nullptr) {
            return Sm::create(
                context.progress(), context.core().node, window, _barrier, context.runtime().oversubscribed());
        }
        // With more threads than cores they do not spin.
        Progress& progress = *window.comm->progress;
        return Sm::create(progress, nullptr, window, _barrier, progress.policy().spin.count() == 0);
    }

private:
    int _priority = 0;
    BarrierKind _barrier = BarrierKind::automatic;
};

} // namespace

} // namespace patchbay::osc::sm

PATCHBAY_COMPONENT = patchbay::describe<patchbay::osc::sm::SmComponent>("osc", patchbay::osc::interface_version, "sm",
    "1.0.0", "one-sided communication by loads and stores in the memory of a node", patchbay::osc::sm::params);
