// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/pml.h"
#include "object/datatype.h"
#include "object/immediate_request.h"
#include "object/origins.h"
#include "object/request.h"
#include "object/status.h"

namespace patchbay::api {

// A request of a nonblocking operation with MPI_PROC_NULL.
class NullRequest final : public ImmediateRequest {
public:
    explicit NullRequest(Progress& waits) noexcept
        : ImmediateRequest(waits, MPI_Status{}) {
        fill_proc_null_status(status);
    }

    OriginNote note; // among the handles that the program has to free
};

// A persistent request with MPI_PROC_NULL: each start completes it at once (MPI-5.0, 3.10).
class PersistentNullRequest final : public Request {
public:
    // `what`.peer is MPI_PROC_NULL.
    PersistentNullRequest(const pml::PersistentRequest& what, Progress& waits, Communicator& on) noexcept
        : _bound(what),
          _comm(Ref<Communicator>::share(&on)),
          _type(Ref<Datatype>::share(const_cast<Datatype*>(what.type))) {
        belong_to(on);
        progress = &waits;
        fill_proc_null_status(status);
        persistent = true;
    }

    int start() noexcept override {
        set_complete();
        return MPI_SUCCESS;
    }
    int cancel() noexcept override { return MPI_SUCCESS; }
    bool bound(pml::PersistentRequest* what) const noexcept override {
        *what = _bound;
        return true;
    }
    std::int32_t references_to_comm() const noexcept override { return 1; }

private:
    int retire() noexcept override {
        delete this;
        return MPI_SUCCESS;
    }

    const pml::PersistentRequest _bound;
    const Ref<Communicator> _comm;
    const Ref<Datatype> _type;
};

} // namespace patchbay::api
