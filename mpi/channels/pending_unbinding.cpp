// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/channels/pending_unbinding.h"

#include "core/base/out_of_memory.h"
#include "frameworks/chan/bound_channels.h"
#include "frameworks/chan/tags.h"
#include "mpi/instance/instance.h"
#include "object/origins.h"

namespace patchbay {

PendingUnbinding::PendingUnbinding(Channels& owner, chan::Channel& channel) noexcept
    : _owner(owner),
      _channel(channel),
      _next(channel.binding().comm->progress_or(owner.instance().progress()), *this) {}

int PendingUnbinding::begin(Channels& owner, chan::Channel& channel) noexcept {
    PendingUnbinding* unbinding = nullptr;
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        unbinding = new PendingUnbinding(owner, channel);
        owner.add(*unbinding);
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS && channel.binding().peer != MPI_PROC_NULL) {
        code = unbinding->send_messages();
    }
    if (code != MPI_SUCCESS) {
        if (unbinding != nullptr) {
            owner.remove(*unbinding);
            delete unbinding;
        }
        return code;
    }
    if (Origins* const origins = Origins::active()) {
        origins->remove(to_handle<Request>(&channel));
    }
    channel.begin_unbinding();
    unbinding->_next.follow(unbinding->_sending, unbinding->_receiving);
    return MPI_SUCCESS;
}

// Messages without data: what they say is in their tags.
int PendingUnbinding::send_messages() noexcept {
    const chan::Binding& binding = _channel.binding();
    Communicator& comm = *binding.comm;
    int code = receive_bytes(
        nullptr, 0, binding.peer, chan::setup_tag(chan::number_of_component_tag(binding.tag_here)), comm, &_receiving);
    if (code == MPI_SUCCESS) {
        code = send_bytes(nullptr, 0, binding.peer, chan::setup_tag(chan::number_of_component_tag(binding.tag_there)),
            comm, &_sending);
        if (code != MPI_SUCCESS) {
            _receiving->cancel();
            drop(_receiving);
        }
    }
    return code;
}

void PendingUnbinding::give_up() noexcept {
    if (_receiving != nullptr) {
        _receiving->cancel();
    }
}

void PendingUnbinding::advance() noexcept {
    const Channels::Lock lock(_owner.mutex());
    if (_next.attach_to(_sending, _receiving)) {
        return;
    }
    int code = error_of(_receiving);
    if (code == MPI_SUCCESS) {
        code = error_of(_sending);
    }
    drop(_sending);
    drop(_receiving);
    _owner.instance().bound_channels().remove(_channel);
    if (_channel.binding().peer != MPI_PROC_NULL) {
        _owner.give_back_number(chan::number_of_component_tag(_channel.binding().tag_here));
    }
    _owner.remove(*this);
    _channel.disconnect();
    _channel.end_unbinding(code);
    delete this;
}

} // namespace patchbay
