// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "frameworks/coll/coll.h"

#include <utility>

namespace [[gnu::visibility("default")]] patchbay {
namespace coll {

// A module that stands before another one and passes every call on (Component::wrap). An interposer derives from it and
// overrides what it observes or changes: plan() for the nonblocking and persistent forms, blocking() for the blocking
// form of all functions, to which the default of each blocking function comes. It has one candidate for each operation,
// so that no plan is made that plan() does not see.
class Forward : public Module {
public:
    explicit Forward(std::unique_ptr<Module> wrapped) noexcept
        : _wrapped(std::move(wrapped)) {}

    Provided provides() const noexcept override { return _wrapped->provides(); }
    int plan(const Call& call, Schedule& schedule) noexcept override { return _wrapped->plan(call, schedule); }
    int blocking(const Call& call, Communicator& comm) noexcept override { return _wrapped->run_blocking(call, comm); }
    void blocking_failed(const Call& call, Communicator& comm, int code) noexcept override {
        _wrapped->blocking_failed(call, comm, code);
    }

protected:
    Module& wrapped() const noexcept { return *_wrapped; }

private:
    std::unique_ptr<Module> _wrapped;
};

} // namespace coll
} // namespace patchbay
