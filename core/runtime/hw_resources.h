// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// The hardware that this process is bound to, as hwloc reports it. The topology is loaded on first use, which takes
// about 10 ms. Thread-safe.
class HwResources {
public:
    HwResources();
    ~HwResources();

    // The kinds of hardware within a node, from large to small, by their MPI names: "hwloc://Package" and so on.
    static std::span<const std::string_view> kinds() noexcept;
    // The name that MPI reserves for the node.
    static constexpr std::string_view node_kind = "mpi_shared_memory";
    // Whether `kind` names a kind of hardware. The prefix "hwloc://" may be left out.
    static bool knows(std::string_view kind) noexcept;

    // The resource of that kind to which this process is confined, as a number that is unique on the node. nullopt: the
    // process may run on several of them, or the machine has none. The node itself always has number 0.
    std::optional<std::uint32_t> confined_to(std::string_view kind);

    // The same, as the number that the operating system gives to the resource.
    std::optional<std::uint32_t> number_of_confined_to(std::string_view kind);
    // The number of resources of that kind that this machine has.
    std::uint32_t count(std::string_view kind);

    // The latencies of memory accesses from the NUMA node with that number (as of confined_to) to each one, as the
    // firmware states them: they are relative to each other. Empty: it does not.
    std::vector<std::uint64_t> numa_latencies(std::uint32_t node);

private:
    struct Topology;
    struct Resource {
        std::uint32_t logical;
        std::uint32_t physical;
    };
    Topology* topology(); // null: hwloc could not read the topology
    std::optional<Resource> find_confined_to(std::string_view kind);

    std::mutex _mutex;
    std::unique_ptr<Topology> _topology;
};

} // namespace patchbay
