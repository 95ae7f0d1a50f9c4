// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/channel_use.h"

#include "mpi/instance/instance.h"

namespace patchbay {

chan::Binding binding_of_message(
    bool sends, void* buffer, MPI_Count count, const Datatype& type, int peer, int tag, Communicator& comm) noexcept {
    chan::Binding binding{};
    binding.side = {sends, false, buffer, count, &type, 1, 0, false};
    binding.comm = &comm;
    binding.peer = peer;
    binding.tag = tag;
    binding.partner = comm.remote_group->process(peer);
    binding.bytes = std::uint64_t(count) * std::uint64_t(type.size);
    return binding;
}

bool keep_used(Instance& instance, ChannelUse use, chan::Faster faster, const chan::Binding& binding,
    chan::Selector::Candidates& candidates) {
    bool any = false;
    for (auto& candidate : candidates) {
        if (candidate.name[0] == '\0') {
            continue;
        }
        chan::Component* const component = instance.chan_selector().find(candidate);
        if (component != nullptr &&
            (use == ChannelUse::all || chan::have_common(component->faster(instance, binding), faster))) {
            any = true;
        } else {
            candidate = {};
        }
    }
    return any;
}

} // namespace patchbay
