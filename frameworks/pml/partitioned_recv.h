// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/partitioned.h"

namespace [[gnu::visibility("default")]] patchbay {
namespace pml {

// The request of MPI_Precv_init.
class PartitionedRecv : public Partitioned {
public:
    static int make(
        PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept;

    int start() noexcept override;

    // MPI_Parrived: whether this partition of the start has arrived, or no start is outstanding. On any thread. Does
    // not poll.
    virtual bool has_arrived(int partition) noexcept;

    bool is_needed() const noexcept override {
        return (_phase.load(std::memory_order_relaxed) & orphaned) == 0 && !_begun.load(std::memory_order_relaxed);
    }
    bool is_unmatched() const noexcept override { return _phase.load(std::memory_order_acquire) == orphaned; }
    void cancel_unmatched() noexcept override;

protected:
    PartitionedRecv(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept;
    ~PartitionedRecv() override = default;
    // Whether the data that the note describes may be received. Called once, in a poll. MPI_SUCCESS, or the code of the
    // error with which every start ends on both sides, whose cause has been noted.
    virtual int accept(const PartitionedNote&) noexcept { return MPI_SUCCESS; }

private:
    // What has happened: the setup message, the first start, or the end of the handle before a start. The code that
    // sets the second of them goes on.
    static constexpr unsigned arrived = 1, started = 2, orphaned = 4;

    int post_setup() noexcept;
    void end_setup() noexcept;
    void read_setup() noexcept;
    int make_plan() noexcept;
    Elements elements_of(int message) const noexcept;
    void begin() noexcept;
    void end_reply() noexcept;
    void start_first_round() noexcept override;
    void start_messages() noexcept;
    int retire() noexcept override;

    Next<PartitionedRecv, &PartitionedRecv::end_setup> _after_setup;
    std::atomic<unsigned> _phase{0};
    std::atomic<bool> _begun{false}; // the first start, after the setup
    bool _matched = false;           // the setup message has arrived without an error, so that a reply is needed
    bool _replied = false;
};

} // namespace pml
} // namespace patchbay
