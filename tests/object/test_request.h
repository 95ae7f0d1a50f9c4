// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "object/request.h"

#include <atomic>
#include <functional>

namespace patchbay {

// A request whose completion the test decides. It counts how often it is retired.
class TestRequest final : public Request {
public:
    explicit TestRequest(Progress& waits, std::function<int()> at_retirement = nullptr)
        : _at_retirement(std::move(at_retirement)) {
        progress = &waits;
        set_active();
    }
    ~TestRequest() override = default;
    int start() noexcept override {
        set_active();
        return MPI_SUCCESS;
    }
    int cancel() noexcept override { return MPI_SUCCESS; }

    std::atomic<int> retired{0};

private:
    int retire() noexcept override {
        const int code = _at_retirement ? _at_retirement() : MPI_SUCCESS;
        ++retired; // the test may destroy the request now
        return code;
    }
    std::function<int()> _at_retirement;
};

// A continuation that counts how often it has been run.
class TestContinuation final : public Continuation {
public:
    explicit TestContinuation(Progress& progress, std::function<void()> then = nullptr)
        : Continuation(progress, &ReadyItem::call<TestContinuation, &TestContinuation::count>),
          _then(std::move(then)) {}
    std::atomic<int> runs{0};

private:
    void count() noexcept {
        if (_then) {
            _then();
        }
        ++runs;
    }
    std::function<void()> _then;
};

} // namespace patchbay
