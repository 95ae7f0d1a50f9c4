// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/partitioned_engine.h"
#include "mpi/check/buffer_check.h"

#include <memory>

namespace patchbay::check {

// Checks the buffers of partitioned communication. A partition that is sent is in use from MPI_Pready to the completion
// of the start; one that is received from the start until MPI_Parrived has said that it has arrived, or to the
// completion.
class PartitionedCheck final : public pml::PartitionedMaker {
public:
    explicit PartitionedCheck(std::shared_ptr<BufferCheck> buffers) noexcept
        : _buffers(std::move(buffers)) {}

    pml::PartitionedSend* make_send(
        pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept override;
    pml::PartitionedRecv* make_recv(
        pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept override;

private:
    const std::shared_ptr<BufferCheck> _buffers;
};

} // namespace patchbay::check
