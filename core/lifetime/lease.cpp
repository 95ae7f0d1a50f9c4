// SPDX-License-Identifier: BSD-3-Clause
#include "core/lifetime/lease.h"

#include "core/log.h"

#include <cstdlib>
#include <string>

namespace patchbay {

void Lease::release() noexcept {
    if (_subsystem != nullptr) {
        std::exchange(_subsystem, nullptr)->release();
    }
}

Subsystem::Subsystem(const char* name)
    : _name(name) {}

Subsystem::~Subsystem() {
    if (_users != 0) {
        log_error("bug: subsystem " + std::string(_name) + " is destroyed while " + std::to_string(_users) +
            " leases on it are held");
        std::abort();
    }
}

Result<Lease> Subsystem::acquire(const Init& init, FaultPlan* faults) {
    const std::lock_guard lock(_mutex);
    if (_users == 0) {
        auto cleanup = std::make_unique<CleanupStack>(faults);
        if (Status up = init(*cleanup); !up) {
            cleanup->run();
            return up.error();
        }
        _cleanup = std::move(cleanup);
    }
    ++_users;
    return Lease(this);
}

int Subsystem::users() const {
    const std::lock_guard lock(_mutex);
    return _users;
}

void Subsystem::release() noexcept {
    const std::lock_guard lock(_mutex);
    if (--_users == 0) {
        _cleanup->run();
        _cleanup.reset();
    }
}

} // namespace patchbay
