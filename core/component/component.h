// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] patchbay {

struct Core;

// What a component can do. A component that lacks what a framework needs is no candidate.
enum class Capability : std::uint32_t {
    none = 0,
    thread_multiple = 1u << 0, // may be called from several threads at once
    sessions = 1u << 1,        // works for communicators that have no globally equal CID
    device_memory = 1u << 2,   // takes buffers in device memory
    peers_self = 1u << 3,      // reaches the process itself
    peers_node = 1u << 4,      // reaches processes of the same node
    peers_network = 1u << 5,   // reaches processes of other nodes
    peers_threads = 1u << 6,   // osc, chan: serves communicators whose ranks are threads
};
constexpr Capability operator|(Capability a, Capability b) {
    return Capability(std::uint32_t(a) | std::uint32_t(b));
}
constexpr Capability operator&(Capability a, Capability b) {
    return Capability(std::uint32_t(a) & std::uint32_t(b));
}
constexpr bool has_all(Capability have, Capability need) {
    return (std::uint32_t(have) & std::uint32_t(need)) == std::uint32_t(need);
}

// For people: "thread_multiple, sessions".
std::string describe_capabilities(Capability capabilities);

// Base of every component. Each framework derives its own component interface from it and adds its `query`.
class Component {
public:
    virtual ~Component() = default;

    // Called once, by the framework that opens, on the opening thread, before anything else. May read parameters and
    // acquire resources; must not communicate. Errc::not_available: the framework leaves the component out and gives
    // the reason under --explain (or as a warning, where a user named the component). Errc::invalid, of a parameter
    // with a wrong value, and Errc::out_of_memory fail the selection of the framework. Any other error: it leaves the
    // component out and warns with the text.
    virtual Status open(Core& core) {
        (void)core;
        return {};
    }
    // Called once after the last module of this component is gone. Releases all that open acquired.
    virtual void close() noexcept {}

    // Constant after open().
    virtual Capability capabilities() const noexcept = 0;
};

} // namespace patchbay
