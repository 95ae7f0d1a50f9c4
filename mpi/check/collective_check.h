// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/gate.h"
#include "frameworks/coll/selector.h"
#include "mpi/check/buffer_check.h"
#include "mpi/check/checks.h"

#include <memory>

namespace patchbay {

class Progress;

namespace check {

// Compares the collective calls of all members, notes the requests of nonblocking ones, and checks their buffers.
class CollectiveCheck final : public coll::CallChecker, public coll::Outermost {
public:
    CollectiveCheck(const Checks& checks, std::shared_ptr<BufferCheck> buffers, Progress& progress) noexcept
        : _checks(checks),
          _buffers(std::move(buffers)),
          _progress(progress) {}

    std::unique_ptr<coll::Gate> look_at(const coll::Call& call, coll::Form form, Communicator& comm) noexcept override;
    int compare_constructor(const char* function, Communicator& comm) noexcept override;
    void wrap(Communicator& comm, std::unique_ptr<coll::Module>& module) override;

private:
    const Checks _checks;
    const std::shared_ptr<BufferCheck> _buffers;
    Progress& _progress;
};

} // namespace check
} // namespace patchbay
