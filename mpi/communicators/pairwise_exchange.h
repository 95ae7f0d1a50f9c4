// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace patchbay {

// The datatype of what constructors tell each other.
inline const Datatype& word_type() noexcept {
    return *to_object<Datatype>(MPI_UINT64_T);
}

// Words sent to one member of a communicator while as many come from another; MPI_PROC_NULL: to or from nobody. Does
// not block.
class PairwiseExchange {
public:
    PairwiseExchange() = default;
    ~PairwiseExchange();
    PairwiseExchange(const PairwiseExchange&) = delete;
    PairwiseExchange& operator=(const PairwiseExchange&) = delete;

    // `words` stay where they are until finish(). Returns an MPI code.
    int start(Communicator& over, std::span<const std::uint64_t> words, int to, int from, int tag) noexcept;
    // Are both over (or was none started)? Only looks.
    bool ready() const noexcept;
    // Once ready. Returns an MPI code.
    int finish() noexcept;
    // Empty when they were to come from nobody.
    std::span<const std::uint64_t> received() const noexcept { return _incoming; }

private:
    std::vector<std::uint64_t> _incoming;
    Request* _sending = nullptr;
    Request* _receiving = nullptr;
};

} // namespace patchbay
