// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/pairwise_exchange.h"

#include "core/base/out_of_memory.h"
#include "frameworks/pml/pml.h"
#include "object/error_cause.h"
#include "object/error_code.h"
#include "object/status.h"

#include <utility>

namespace patchbay {

namespace {

// Returns the request's code, and recycles the request.
int take_code(Request*& request) noexcept {
    if (request == nullptr) {
        return MPI_SUCCESS;
    }
    const int code = request->error;
    std::exchange(request, nullptr)->recycle();
    return code;
}

} // namespace

PairwiseExchange::~PairwiseExchange() {
    // Requests are left only where a constructor is given up.
    for (Request* request : {_receiving, _sending}) {
        if (request == nullptr) {
            continue;
        }
        if (request == _receiving) {
            request->cancel(); // because its buffer is about to be destroyed
        }
        if (_next != nullptr) {
            request->detach(*_next);
        }
        request->recycle();
    }
}

// The message is sent, empty, also where this process cannot receive one: another process waits for it.
int PairwiseExchange::start(
    Communicator& over, std::span<const std::uint64_t> words, int to, int from, int tag, bool fails) noexcept {
    const auto count = MPI_Count(words.size());
    int code = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _incoming.resize(from == MPI_PROC_NULL ? 0 : words.size());
        return MPI_SUCCESS;
    });
    if (code == MPI_SUCCESS && from != MPI_PROC_NULL) {
        code = over.pml->irecv(_incoming.data(), count, word_type(), from, tag, over, &_receiving);
    }
    if (to != MPI_PROC_NULL) {
        code = first_error(code, send(over, words.first(fails || code != MPI_SUCCESS ? 0 : words.size()), to, tag));
    }
    _fails = fails || code != MPI_SUCCESS;
    return code;
}

int PairwiseExchange::send(Communicator& over, std::span<const std::uint64_t> words, int to, int tag) noexcept {
    int code = over.pml->isend(
        words.data(), MPI_Count(words.size()), word_type(), to, tag, pml::SendMode::standard, over, &_sending);
    if (code == MPI_SUCCESS && _sending->is_complete()) {
        code = _sending->error;
    }
    const bool unreachable = code != MPI_SUCCESS && code != MPI_ERR_PROC_ABORTED && code != MPI_ERR_NO_MEM;
    if (unreachable && _receiving != nullptr) {
        _receiving->cancel(); // no btl reaches the other process, so that most likely none reaches this one
    }
    return code;
}

bool PairwiseExchange::ready() const noexcept {
    return (_sending == nullptr || _sending->is_complete()) && (_receiving == nullptr || _receiving->is_complete());
}

void PairwiseExchange::attach(Continuation& next) noexcept {
    _next = &next;
    for (Request* request : {_receiving, _sending}) {
        if (request != nullptr) {
            request->attach(next);
        }
    }
}

int PairwiseExchange::finish() noexcept {
    _next = nullptr;
    const bool is_empty = _receiving != nullptr && !_incoming.empty() && status_bytes(_receiving->status) == 0;
    const int sent = take_code(_sending);
    const int received = take_code(_receiving);
    if (sent == MPI_SUCCESS && received == MPI_SUCCESS && is_empty) {
        return _fails ? MPI_ERR_OTHER // whose cause has been noted
                      : note_cause(MPI_ERR_OTHER, "another process has failed; its own error gives the reason");
    }
    return first_error(sent, received);
}

} // namespace patchbay
