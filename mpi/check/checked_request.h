// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/progress/continuation.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/envelope.h"
#include "mpi/check/finding.h"
#include "mpi/check/message.h"
#include "object/request.h"

#include <memory>
#include <string>

namespace patchbay::check {

// The request that the program has of a send or receive: it stands before the request of the pml, and checks what can
// be checked when the operation begins and when it ends.
class CheckedRequest final : public Request, public Continuation {
public:
    CheckedRequest(const Checks& checks, BufferCheck& buffers, Progress& waits, const MessageCall& call,
        bool is_persistent) noexcept;

    // Before the request of the pml is made: what it is to send or receive. MPI code.
    int prepare() noexcept;
    void* buffer() const noexcept { return _checks.types ? MPI_BOTTOM : _call.buffer; }
    MPI_Count count() const noexcept { return _checks.types ? 1 : _call.count; }
    const Datatype& type() const noexcept { return _checks.types ? _envelope.type() : *_call.type; }

    // The request of the pml, which this one owns from now on: an active one, or an inactive persistent one.
    void follow(Request& inner) noexcept;
    // There is none. Deletes this object.
    void drop() noexcept { delete this; }

    int start() noexcept override;
    // A completing call: the program learns that the operation is complete.
    int finish(MPI_Status*) noexcept override {
        _buffers.end(_use);
        return error;
    }
    int cancel() noexcept override;
    bool bound(pml::PersistentRequest* what) const noexcept override {
        *what = {_call.buffer, _call.count, _call.type, _call.peer, _call.tag, _call.mode};
        return persistent;
    }
    std::string_view refuses_free() const noexcept override { return _inner->refuses_free(); }
    std::int32_t references_to_comm() const noexcept override { return _inner->references_to_comm(); }
    std::string_view cause() const noexcept override;

private:
    ~CheckedRequest() override = default;
    int retire() noexcept override;
    void prepare_release() noexcept override;
    void watch() noexcept;
    void end() noexcept;
    void collect() noexcept;
    void forget() noexcept;

    const Checks& _checks;
    BufferCheck& _buffers;
    MessageCall _call;
    const CallSite _site;
    const Ref<Datatype> _type;
    Request* _inner = nullptr;
    bool _found = false; // whether the error is one of the checks
    bool _noted = false; // among the handles that the program has to free
    Envelope _envelope;
    BufferCheck::Use _use;
};

} // namespace patchbay::check
