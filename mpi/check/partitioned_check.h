// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/pml/partitioned_engine.h"
#include "mpi/check/buffer_check.h"

#include <memory>

namespace patchbay::check {

// Checks the types and the buffers of partitioned communication. The setup message has the type signature of all
// partitions together. A partition that is sent is in use from MPI_Pready to the completion of the start; one that is
// received from the start until MPI_Parrived has said that it has arrived, or to the completion.
class PartitionedCheck final : public pml::PartitionedMaker {
public:
    PartitionedCheck(const Checks& checks, std::shared_ptr<BufferCheck> buffers) noexcept
        : _types(checks.types),
          _buffers(std::move(buffers)) {}

    pml::PartitionedSend* make_send(
        pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept override;
    pml::PartitionedRecv* make_recv(
        pml::PartitionedEngine& engine, const pml::PartitionedRequest& what, Communicator& comm) noexcept override;

private:
    const bool _types;
    const std::shared_ptr<BufferCheck> _buffers;
};

} // namespace patchbay::check
