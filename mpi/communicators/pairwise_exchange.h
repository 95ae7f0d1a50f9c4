// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/communicator.h"
#include "object/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace patchbay {

// The datatype of the messages of constructors.
inline const Datatype& word_type() noexcept {
    return *to_object<Datatype>(MPI_UINT64_T);
}

// Sends words to one member of a communicator, and receives as many words from another one. Either rank may be
// MPI_PROC_NULL. Does not block.
class PairwiseExchange {
public:
    PairwiseExchange() = default;
    ~PairwiseExchange();
    PairwiseExchange(const PairwiseExchange&) = delete;
    PairwiseExchange& operator=(const PairwiseExchange&) = delete;

    // `words` must exist until finish(). `fails`: this process has no words to send, because of an error; finish()
    // returns an error at the receiver. Returns an MPI code. After an error, too, finish() is called when ready() is
    // true.
    int start(Communicator& over, std::span<const std::uint64_t> words, int to, int from, int tag, bool fails) noexcept;
    // Whether the messages that were started are complete. Makes no progress itself.
    bool ready() const noexcept;
    // As GroupReduction::attach(), after start(), also one that returned an error.
    void attach(Continuation& next) noexcept;
    // Called when ready() is true. Returns an MPI code.
    int finish() noexcept;
    // The received words; empty if the source is MPI_PROC_NULL.
    std::span<const std::uint64_t> received() const noexcept { return _incoming; }

private:
    int send(Communicator& over, std::span<const std::uint64_t> words, int to, int tag) noexcept;

    std::vector<std::uint64_t> _incoming;
    Request* _sending = nullptr;
    Request* _receiving = nullptr;
    Continuation* _next = nullptr; // attached to the requests
    bool _fails = false;           // this process has an error of its own, whose cause has been noted
};

} // namespace patchbay
