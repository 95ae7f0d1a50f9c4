// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/partitioned.h"

namespace [[gnu::visibility("default")]] patchbay {
namespace pml {

// The request of MPI_Psend_init.
class PartitionedSend : public Partitioned {
public:
    static int make(
        PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm, Request** request) noexcept;

    int start() noexcept override;
    std::string_view refuses_free() const noexcept override;

    // MPI_Pready of an active request. On any thread, several at a time. Never blocks. false: the partition was ready
    // before, and nothing has happened.
    virtual bool make_ready(int partition) noexcept;

    bool is_needed() const noexcept override { return !_orphaned; }
    bool sends_setup() const noexcept override { return _orphaned; }

protected:
    PartitionedSend(PartitionedEngine& engine, const PartitionedRequest& what, Communicator& comm) noexcept;
    ~PartitionedSend() override = default;
    // What the setup message says about the data beyond its size. May throw std::bad_alloc.
    virtual PartitionedNote describe() const { return {}; }

private:
    // The state of a partition is that of the last start in which it became ready (_ready), and one more when its
    // message has counted it. So a start need not reset it.
    using PartitionState = std::atomic<std::uint32_t>;

    bool allocate() noexcept;
    bool plan_nothing() noexcept;
    int send_first() noexcept;
    int start_first() noexcept;
    void open_messages() noexcept;
    void end_setup() noexcept;
    void read_reply() noexcept;
    void begin() noexcept;
    void start_first_round() noexcept override;
    int make_plan() noexcept;
    void reset_left() noexcept;
    void count_ready() noexcept;
    bool mark_alone(int partition, bool* due) noexcept;
    bool mark(int partition, bool* due) noexcept;
    bool count(int partition) noexcept;
    void send_message(int message) noexcept;
    void end_message() noexcept;
    int retire() noexcept override;

    Next<PartitionedSend, &PartitionedSend::end_setup> _after_setup;
    std::unique_ptr<PartitionState[]> _states;          // of the partitions
    std::unique_ptr<std::atomic<std::int32_t>[]> _left; // of each message: the partitions that are not ready
    std::atomic<std::int32_t> _unsent{0};               // messages; and one while end_setup() counts
    std::atomic<bool> _planned{false};
    std::uint32_t _ready = 0; // the state of a partition that is ready in this start and not counted
    bool _replied = false;
    bool _orphaned = false; // released before the setup message was sent
};

} // namespace pml
} // namespace patchbay
