// SPDX-License-Identifier: BSD-3-Clause
// The messages of a persistent operation, which are bound once: to persistent requests of the pml, or to channels.
#include "core/base/out_of_memory.h"
#include "frameworks/chan/chan.h"
#include "frameworks/coll/channel_binder.h"
#include "frameworks/coll/operation.h"
#include "frameworks/pml/pml.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace patchbay::coll {

int Operation::bind_message(const Step& step, Request** made) noexcept {
    pml::Module& pml = *step.comm->pml;
    return step.kind == StepKind::send
        ? pml.send_init(step.source, step.source_count, *step.source_type, step.peer, _tag, pml::SendMode::standard,
              *step.comm, made)
        : pml.recv_init(step.target, step.target_count, *step.target_type, step.peer, _tag, *step.comm, made);
}

// The messages on other communicators than that of the operation are not bound, because a bound message holds its
// communicator, and the local communicator of an intercommunicator ends with the intercommunicator. A message that the
// pml cannot bind for another reason than memory is made in each start, which reports the error.
int Operation::bind_messages(std::size_t limit) noexcept {
    if (limit == 0 || schedule.execution() != nullptr ||
        comm->view != nullptr) { // its own messages; ranks that are threads
        return MPI_SUCCESS;
    }
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        const std::span<const Step> steps = schedule.steps();
        _bound.reserve(std::min(limit, steps.size()));
        for (StepId id = 0; id < steps.size() && _bound.size() < limit; ++id) {
            const Step& step = steps[id];
            if ((step.kind != StepKind::send && step.kind != StepKind::recv) || step.comm != comm) {
                continue;
            }
            Request* made = nullptr;
            const int code = bind_message(step, &made);
            if (code == MPI_ERR_NO_MEM) {
                return code;
            }
            if (code == MPI_SUCCESS) {
                _bound.push_back(made);
                _progressions[id].bound = made;
            }
        }
        return MPI_SUCCESS;
    });
}

// The messages that are not bound, or whose plan has failed, take part all the same: the other end has to know. In the
// checking mode members that call different functions must not wait for each other before the first start, which finds
// that out.
int Operation::bind_channels() noexcept {
    ChannelBinder* const binder = _engine._binder;
    const bool possible = binder != nullptr && _engine._checker == nullptr && comm->view == nullptr &&
        !comm->is_inter && !comm->group->has_other_jobs(); // equal in all members
    return possible ? try_to_bind_channels(*binder) : MPI_SUCCESS;
}

// Where the members have found out that they have no joint starts, they wait for each other from then on, also where
// memory is short.
int Operation::bind_jointly(Module& module, const Call& call, bool wanted) noexcept {
    std::unique_ptr<JointStart> joint;
    if (_engine._checker == nullptr) {
        if (const int code = module.make_joint_start(call, *comm, &joint); code != MPI_SUCCESS) {
            return code;
        }
    }
    if (joint == nullptr) {
        return bind_channels();
    }
    if (joint->agree(wanted && schedule.code() == MPI_SUCCESS)) {
        release_bound();
        _joint = std::move(joint);
        checks_itself = true;
        return MPI_SUCCESS;
    }
    return bind_channels_when_there_is_memory();
}

int Operation::bind_channels_when_there_is_memory() noexcept {
    int code = MPI_SUCCESS;
    while ((code = bind_channels()) == MPI_ERR_NO_MEM) {
        progress->poll();
    }
    return code;
}

int Operation::try_to_bind_channels(ChannelBinder& binder) noexcept {
    return unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        std::vector<ChannelMessage> messages;
        std::vector<StepId> ids;
        const std::span<const Step> steps = schedule.steps();
        const bool combines =
            std::any_of(steps.begin(), steps.end(), [](const Step& step) { return step.kind == StepKind::reduce; });
        for (StepId id = 0; id < steps.size(); ++id) {
            const Step& step = steps[id];
            const bool sends = step.kind == StepKind::send;
            if ((!sends && step.kind != StepKind::recv) || step.comm != comm || step.peer == comm->rank) {
                continue;
            }
            const bool wanted = _progressions[id].bound != nullptr && schedule.code() == MPI_SUCCESS;
            messages.push_back({sends, wanted, combines, sends ? const_cast<void*>(step.source) : step.target,
                sends ? step.source_count : step.target_count, sends ? step.source_type : step.target_type, step.peer,
                nullptr});
            ids.push_back(id);
        }
        _looks = std::make_unique<StepId[]>(messages.size());
        const int code = messages.empty() ? MPI_SUCCESS : binder.bind(*comm, _tag, messages);
        if (code == MPI_ERR_NO_MEM) {
            _looks.reset(); // it is tried again
            return code;
        }
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (messages[i].channel != nullptr) {
                Progression& progression = _progressions[ids[i]];
                progression.bound->recycle();
                *std::find(_bound.begin(), _bound.end(), progression.bound) = messages[i].channel;
                progression.bound = messages[i].channel;
                progression.by_channel = true;
                checks_itself = true;
            }
        }
        return code;
    });
}

void Operation::release_bound() noexcept {
    for (StepId id = 0; checks_itself && id < schedule.steps().size(); ++id) {
        Progression& progression = _progressions[id];
        if (progression.by_channel) {
            progression.by_channel = false;
            std::erase(_bound, progression.bound);
            _engine._binder->unbind(static_cast<chan::Channel&>(*progression.bound));
        }
    }
    checks_itself = false;
    for (Request* message : _bound) {
        message->recycle();
    }
    _bound.clear();
}

std::int32_t Operation::references_to_comm() const noexcept {
    std::int32_t references = _comm ? 1 : 0;
    for (const Request* message : _bound) {
        references += message->references_to_comm();
    }
    return references;
}

} // namespace patchbay::coll
