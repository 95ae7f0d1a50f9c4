// SPDX-License-Identifier: BSD-3-Clause
#include "frameworks/chan/chan.h"
#include "object/error_cause.h"
#include "object/status.h"

namespace patchbay::chan {

Channel::Channel(Progress& waits, const Binding& binding) noexcept
    : _binding(binding),
      _comm(Ref<Communicator>::share(binding.comm)),
      _type(Ref<Datatype>::share(const_cast<Datatype*>(binding.side.type))) {
    belong_to(*binding.comm);
    progress = &waits;
    persistent = true;
    most_starts = std::uint16_t(binding.side.slackness);
    fill_status(status, binding.peer, binding.tag, binding.bytes);
}

int Channel::cancel() noexcept {
    return note_cause(MPI_ERR_REQUEST, "a request that is bound to a channel cannot be cancelled");
}

std::string_view Channel::refuses_free() const noexcept {
    return _unbinding ? "the request is being unbound: a wait or test for it ends that, and releases it"
                      : "the request is bound to a channel: MPIX_Unbind_channel on both sides releases it";
}

std::string_view Channel::cause() const noexcept {
    if (error == MPI_ERR_PROC_ABORTED) {
        return "the process on the other side of the channel has failed";
    }
    return error == MPI_ERR_TRUNCATE ? "the message is longer than the buffer to which the request has been rebound"
                                     : "";
}

void Channel::begin_unbinding() noexcept {
    if (!_of_operation) {
        leave_list();
    }
    set_kind(ObjectKind::request); // the handle is valid until a completing call has ended the unbinding
    _unbinding = true;
    persistent = false;
    checks_itself = false;
    most_starts = 1;
    fill_status(status, binding().peer, binding().tag, 0);
    set_active();
}

void Channel::end_unbinding(int code) noexcept {
    error = code;
    _complete_reference.set(*_comm);
    complete();
}

} // namespace patchbay::chan
