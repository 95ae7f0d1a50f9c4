// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/transfer_request.h"

#include "components/osc/rdma/errors.h"

namespace patchbay::osc::rdma {

TransferRequest::TransferRequest(Progress& waits, Communicator& communicator) noexcept
    : _comm(Ref<Communicator>::share(&communicator)) {
    progress = &waits;
    belong_to(communicator);
    set_active();
    done = [](btl::Completion& self, int failure) noexcept {
        auto& request = static_cast<TransferRequest&>(self);
        request.note(failure);
        if (request._count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            request.error = request.result();
            request.complete();
        }
    };
}

void TransferRequest::note(int failure) noexcept {
    if (failure != 0) {
        _failure.store(failure, std::memory_order_relaxed);
    }
}

int TransferRequest::result() const noexcept {
    const int code = _code.load(std::memory_order_relaxed);
    return code != MPI_SUCCESS ? code : code_of(_failure.load(std::memory_order_relaxed));
}

void TransferRequest::close(int failure) noexcept {
    note(failure);
    _count.fetch_sub(1, std::memory_order_relaxed); // never the last one: end_of_starts() has not been called
}

void TransferRequest::end_of_starts() noexcept {
    if (_count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        error = result();
        set_complete();
    }
}

std::string_view TransferRequest::cause() const noexcept {
    const int failure = _failure.load(std::memory_order_relaxed);
    return failure == 0 ? std::string_view() : describe_failure(failure);
}

int TransferRequest::retire() noexcept {
    delete this;
    return MPI_SUCCESS;
}

} // namespace patchbay::osc::rdma
