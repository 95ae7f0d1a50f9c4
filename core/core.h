// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/explain.h"
#include "core/param/registry.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

struct ComponentDescriptor; // core/component/descriptor.h
struct ComponentPlaces;     // core/component/repository.h
class FaultPlan;            // core/lifetime/fault_plan.h
class NodeSegment;          // core/memory/node_segment.h
class Progress;             // core/progress/progress.h
class Repository;           // core/component/repository.h
class Runtime;              // core/runtime/runtime.h
class ToolRegistry;         // core/tool/registry.h

// Everything that components and frameworks get from the core. The library makes one when it starts and passes it on;
// there is no global one.
struct Core {
private:
    // What components do not use, so that it may change without them.
    struct Inside;
    std::unique_ptr<Inside> _inside;

public:
    Core();
    ~Core();

    ParamRegistry params;
    DecisionLog decisions;
    Repository& components; // that are installed
    FaultPlan& faults;      // steps of an initialization that a test makes fail
    ToolRegistry& tool;     // performance variables and events

    // Set by InstanceBuilder when it starts these subsystems; null before.
    Runtime* runtime = nullptr;
    Progress* progress = nullptr;
    NodeSegment* node = nullptr;

    // Reads the parameters' sources, defines the core's own ones and finds the installed components. Opens none.
    static Result<std::unique_ptr<Core>> create(std::span<const ComponentDescriptor* const> linked_in);
    // The same with other sources, and with `directories` in the place of the default places of components (the
    // parameter component_path still comes first).
    static Result<std::unique_ptr<Core>> create(std::span<const ComponentDescriptor* const> linked_in,
        const ParamSources& sources, const std::vector<std::string>& directories);
    // The same with places of components, whose wanted_directories become those that component_path names.
    static Result<std::unique_ptr<Core>> create(const ParamSources& sources, ComponentPlaces places);

    // Reports every value that a user gave to a parameter that does not exist, each once, by rank 0 of the job. To be
    // called when the frameworks in use are open: names that are still unknown then cost the opening of the components
    // that they may belong to. Returns an error for an ill-typed value found on the way.
    Status report_unknown_params();

    // Makes the variables and events of the core and of all installed components known to `tool`. A component that
    // cannot be read has none.
    void define_tool_tables();
    // A framework has chosen this component, with this priority: raises the event component_selected.
    void note_selected(std::string_view framework, std::string_view component, int priority) noexcept;

    // When the parameter `explain` is on: the decisions since the last call and, the first time, the parameters that
    // are not default, as text to print; else empty.
    std::string take_explanation();
};

} // namespace patchbay
