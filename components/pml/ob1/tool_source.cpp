// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/tool_source.h"

#include "components/pml/ob1/module.h"
#include "components/pml/ob1/tool_tables.h"

namespace patchbay::pml::ob1 {

Ob1ToolSource::Ob1ToolSource(Ob1& module, ToolRegistry* registry)
    : ToolSource("pml", "ob1"),
      _module(module),
      _registry(registry) {
    if (_registry != nullptr) {
        _registry->add(*this);
    }
}

Ob1ToolSource::~Ob1ToolSource() {
    if (_registry != nullptr) {
        _registry->remove(*this);
    }
}

std::optional<std::uint64_t> Ob1ToolSource::read(std::size_t variable, const void* object, std::size_t) noexcept {
    const Ob1::Guard guard(_module);
    const Traffic& traffic = _module._traffic;
    switch (variable) {
    case messages_sent:
        return traffic.messages_sent;
    case bytes_sent:
        return traffic.bytes_sent;
    case messages_received:
        return traffic.messages_received;
    case bytes_received:
        return traffic.bytes_received;
    case eager_sent:
        return traffic.eager_sent;
    case rendezvous_sent:
        return traffic.rendezvous_sent;
    case unexpected_received:
        return traffic.unexpected;
    case unexpected_bytes:
    case unexpected_bytes_highest:
        return _module._flow.bytes();
    case unexpected_length:
    case posted_length:
        if (const CommState* state = _module._matching.find(*static_cast<const Communicator*>(object))) {
            return variable == unexpected_length ? state->unexpected_length() : state->posted_length();
        }
        break;
    default:
        break;
    }
    return std::nullopt;
}

void Ob1ToolSource::count(std::size_t variable, bool on) noexcept {
    const Ob1::Guard guard(_module);
    const std::uint32_t bit = std::uint32_t(1) << variable;
    _counted = on ? _counted | bit : _counted & ~bit;
    if (_module._traffic.counting != (_counted != 0)) {
        _module._traffic.counting = _counted != 0;
        _module._peers.count_messages(_counted != 0, _counted != 0 ? &Ob1::receive_and_count : &Ob1::receive);
    }
}

void Ob1ToolSource::track(std::size_t, Watermark& mark, bool on) noexcept {
    const Ob1::Guard guard(_module);
    _module._flow.track(mark, on);
}

std::span<EventPoint> Ob1ToolSource::events() noexcept {
    return {&_module._traffic.unexpected_message, 1};
}

} // namespace patchbay::pml::ob1
