// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/component/repository.h"
#include "core/explain.h"
#include "core/lifetime/fault_plan.h"
#include "core/param/registry.h"

#include <memory>

namespace [[gnu::visibility("default")]] patchbay {

class Runtime;     // core/runtime/runtime.h
class Progress;    // core/progress/progress.h
class NodeSegment; // core/memory/node_segment.h

// Everything that components and frameworks get from the core. The library makes one when it starts and passes it on;
// there is no global one.
struct Core {
    ParamRegistry params;
    DecisionLog decisions;
    Repository components;
    FaultPlan faults;

    // Set by InstanceBuilder when it starts these subsystems; null before.
    Runtime* runtime = nullptr;
    Progress* progress = nullptr;
    NodeSegment* node = nullptr;

    // Reads the parameters' sources, defines the core's own ones and finds the installed components. Opens none.
    // `directories` replaces the default places of components (the parameter component_path still comes first).
    static Result<std::unique_ptr<Core>> create(std::span<const ComponentDescriptor* const> linked_in,
        const ParamSources& places = ParamSources::of_process(),
        const std::vector<std::string>& directories = ComponentPlaces::default_directories());

    // Reports every value that a user gave to a parameter that does not exist, each once, by rank 0 of the job. To be
    // called when the frameworks in use are open: names that are still unknown then cost the opening of the components
    // that they may belong to. Returns an error for an ill-typed value found on the way.
    Status report_unknown_params();

    // When the parameter `explain` is on: the decisions since the last call and, the first time, the parameters that
    // are not default, as text to print; else empty.
    std::string take_explanation();

private:
    bool _params_explained = false;
};

} // namespace patchbay
