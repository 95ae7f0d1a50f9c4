// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/channel_use.h"

#include "mpi/instance/instance.h"

namespace patchbay {

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
