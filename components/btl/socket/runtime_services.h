// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/btl/socket/services.h"
#include "core/progress/progress.h"
#include "core/runtime/runtime.h"

#include <map>

namespace patchbay::btl::socket {

// The services of a process with a launcher.
class RuntimeServices final : public Services {
public:
    RuntimeServices(Runtime& runtime, Progress& progress) noexcept
        : _runtime(runtime),
          _progress(progress) {}

    Status publish(const Address& address) override;
    std::optional<Result<Address>> find(ProcessId process) override;
    Status watch(int fd) override { return _progress.watch(fd); }
    void unwatch(int fd) noexcept override { _progress.unwatch(fd); }
    void keep(std::vector<std::byte> bytes) override { _runtime.keep(key, std::move(bytes)); }
    std::vector<std::byte> take_kept() override { return _runtime.take_kept(key); }
    void abort(int code, std::string_view text) noexcept override { _runtime.abort(code, text); }

private:
    static constexpr const char* key = "patchbay.btl.socket";

    Runtime& _runtime;
    Progress& _progress;
    std::map<ProcessId, GetRequest> _requests; // under way
};

} // namespace patchbay::btl::socket
