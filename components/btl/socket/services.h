// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/wire.h"
#include "core/base/result.h"
#include "object/process.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace patchbay::btl::socket {

// What the module uses of its process besides the table of jobs. Called as the module is: one call at a time. All but
// unwatch() and abort() throw std::bad_alloc.
class Services {
public:
    virtual ~Services() = default;

    // The address of this process, for find() in others. Always the same one.
    virtual Status publish(const Address& address) = 0;
    // The address of another process. Nothing: it has not come yet; the process is woken when that may have changed.
    virtual std::optional<Result<Address>> find(ProcessId process) = 0;

    // Progress::watch and Progress::unwatch.
    virtual Status watch(int fd) = 0;
    virtual void unwatch(int fd) noexcept = 0;

    // What a module leaves to the next one of this process; see Runtime::keep.
    virtual void keep(std::vector<std::byte> bytes) = 0;
    virtual std::vector<std::byte> take_kept() = 0;

    // Ends the job with this text, because a peer waits for what this process cannot do. Returns in tests only.
    virtual void abort(int code, std::string_view text) noexcept = 0;
};

} // namespace patchbay::btl::socket
