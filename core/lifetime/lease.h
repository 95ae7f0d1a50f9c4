// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/lifetime/cleanup_stack.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace [[gnu::visibility("default")]] patchbay {

class Subsystem;

// The right to use a subsystem; given back by its destructor. Movable, and thereby the owner of one count.
class [[nodiscard]] Lease {
public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : _subsystem(std::exchange(other._subsystem, nullptr)) {}
    Lease& operator=(Lease&& other) noexcept {
        if (this != &other) {
            release();
            _subsystem = std::exchange(other._subsystem, nullptr);
        }
        return *this;
    }
    ~Lease() { release(); }

    explicit operator bool() const noexcept { return _subsystem != nullptr; }
    void release() noexcept;

private:
    friend class Subsystem;
    explicit Lease(Subsystem* subsystem)
        : _subsystem(subsystem) {}
    Subsystem* _subsystem = nullptr;
};

// Something that is brought up for its first user and taken down after its last one, as often as needed. Must outlive
// its leases. Safe from any thread: a thread that calls while another one brings it up (or down) waits for that to end.
class Subsystem {
public:
    // Brings it up, pushing a clean-up for each thing done. When it returns an error, what it pushed is run at once,
    // the caller of acquire gets the error, and the next acquire tries again.
    using Init = std::function<Status(CleanupStack&)>;

    explicit Subsystem(const char* name);
    Subsystem(const Subsystem&) = delete;
    Subsystem& operator=(const Subsystem&) = delete;
    ~Subsystem(); // asserts that no lease is left

    // A lease; `init` runs only for the first. `faults` may be null. Must not be called from inside `init` or a
    // clean-up of the same subsystem.
    Result<Lease> acquire(const Init& init, FaultPlan* faults = nullptr);

    int users() const;

private:
    friend class Lease;
    void release() noexcept;

    const char* _name;
    mutable std::mutex _mutex;
    int _users = 0;
    std::unique_ptr<CleanupStack> _cleanup;
};

} // namespace patchbay
