// SPDX-License-Identifier: BSD-3-Clause
#include "core/component/component.h"

#include <utility>

namespace patchbay {

std::string describe_capabilities(Capability capabilities) {
    static constexpr std::pair<Capability, const char*> names[] = {
        {Capability::thread_multiple, "thread_multiple"},
        {Capability::sessions, "sessions"},
        {Capability::device_memory, "device_memory"},
        {Capability::peers_self, "peers_self"},
        {Capability::peers_node, "peers_node"},
        {Capability::peers_network, "peers_network"},
        {Capability::peers_threads, "peers_threads"},
    };
    std::string text;
    for (const auto& [capability, name] : names) {
        if (has_all(capabilities, capability)) {
            text += (text.empty() ? "" : ", ") + std::string(name);
        }
    }
    return text;
}

} // namespace patchbay
