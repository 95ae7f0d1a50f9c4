// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/process_id.h"
#include "core/tool/registry.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace [[gnu::visibility("default")]] patchbay {

struct Core;
class Instance;

// The performance variables and the event of the library itself, and their values in one instance. There is one source
// for each group of names. While this object exists its instance is the one of ObservedInstance (observed_instance.h).
class ToolSources {
public:
    // The instance has its runtime and its progress engine. Throws std::bad_alloc.
    explicit ToolSources(Instance& instance);
    ~ToolSources();
    ToolSources(const ToolSources&) = delete;
    ToolSources& operator=(const ToolSources&) = delete;

    // Makes the tables known to core.tool, without an instance.
    static void define_tables(Core& core);

    // A process has failed: raises the event.
    void note_peer_failed(ProcessId process) noexcept {
        _peer_failed.raise(nullptr, {std::int64_t(process.rank), std::int64_t(process.job)});
    }

private:
    class Source;
    EventPoint _peer_failed;
    std::array<std::unique_ptr<Source>, 5> _sources;
    Instance& _instance;
};

} // namespace patchbay
