// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators/pairwise_exchange.h"

#include "core/base/out_of_memory.h"
#include "frameworks/pml/pml.h"

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
    // Requests are left only after an error, or where a constructor is given up.
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

int PairwiseExchange::start(
    Communicator& over, std::span<const std::uint64_t> words, int to, int from, int tag) noexcept {
    const int prepared = unless_out_of_memory(MPI_ERR_NO_MEM, [&] {
        _incoming.resize(from == MPI_PROC_NULL ? 0 : words.size());
        return MPI_SUCCESS;
    });
    if (prepared != MPI_SUCCESS) {
        return prepared;
    }
    const auto count = MPI_Count(words.size());
    if (from != MPI_PROC_NULL) {
        const int code = over.pml->irecv(_incoming.data(), count, word_type(), from, tag, over, &_receiving);
        if (code != MPI_SUCCESS) {
            return code;
        }
    }
    if (to == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    const int code =
        over.pml->isend(words.data(), count, word_type(), to, tag, pml::SendMode::standard, over, &_sending);
    // The other member may wait for the words: its own do not come then.
    return code == MPI_SUCCESS && _sending->is_complete() ? _sending->error : code;
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
    const int sent = take_code(_sending);
    const int received = take_code(_receiving);
    return sent != MPI_SUCCESS ? sent : received;
}

} // namespace patchbay
