// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/coll/tuned/algorithm.h"
#include "core/tool/registry.h"
#include "frameworks/coll/schedule.h"
#include "object/communicator.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace patchbay::coll::tuned {

// Which algorithm the last call of each function had on each communicator: kept while a tool asks for it.
class ChosenAlgorithms final : public ToolSource {
public:
    ChosenAlgorithms() noexcept
        : ToolSource("coll", "tuned") {}
    ~ChosenAlgorithms() override { close(); }
    // Throws std::bad_alloc.
    void open(ToolRegistry& registry);
    void close() noexcept;

    void note(const Communicator& comm, Function function, Algorithm algorithm) noexcept {
        if (_kept.load(std::memory_order_relaxed)) [[unlikely]] {
            keep(comm, function, algorithm);
        }
    }

    // The same for each start of a persistent operation.
    StartNote start_note(const Communicator& comm, Function function, Algorithm algorithm) noexcept;

    // The code for two processes has served the call.
    void note_pair(const Communicator& comm, Function function) noexcept { note(comm, function, Algorithm::count); }

    std::optional<std::uint64_t> read(std::size_t variable, const void* object, std::size_t element) noexcept override;
    void count(std::size_t variable, bool on) noexcept override;

private:
    void keep(const Communicator& comm, Function function, Algorithm algorithm) noexcept;

    // The number of the last algorithm by function; 0: there was no call.
    using Numbers = std::array<std::uint8_t, function_count>;

    ToolRegistry* _registry = nullptr;
    std::atomic<bool> _kept{false};
    std::mutex _mutex; // protects the map
    struct Kept {
        std::uint64_t serial; // another communicator may get the address of one that has been freed
        Numbers numbers;
    };
    std::map<const Communicator*, Kept> _last;
};

inline constexpr VariableSpec tool_variables[] = {
    {"algorithm", VariableClass::state,
        "algorithm of the last call of each function on the communicator since the handle was started, or of the last "
        "start of a persistent operation; the elements are those of coll_component; pass: the next component has "
        "served the call",
        Counting::on_request, Binding::communicator, algorithm_states, function_count},
};

} // namespace patchbay::coll::tuned
