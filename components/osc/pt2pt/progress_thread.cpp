// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/pt2pt/progress_thread.h"

#include "core/progress/waiter.h"

#include <csignal>
#include <pthread.h>

namespace patchbay::osc::pt2pt {

namespace {

// A thread inherits the mask of the one that starts it. The program's signal handlers run on the program's threads.
class BlockSignals {
public:
    BlockSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &_before);
    }
    ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &_before, nullptr); }
    BlockSignals(const BlockSignals&) = delete;
    BlockSignals& operator=(const BlockSignals&) = delete;

private:
    sigset_t _before;
};

} // namespace

ProgressThread::ProgressThread(Progress& progress)
    : _progress(progress) {
    progress.enable_threads(); // before this thread and the new one can be in the library at one time
    const BlockSignals block;
    _thread = std::thread([this] { wait_until(_progress, [this] { return _end.load(std::memory_order_acquire); }); });
}

ProgressThread::~ProgressThread() {
    _end.store(true, std::memory_order_release);
    _progress.wake();
    _thread.join();
}

} // namespace patchbay::osc::pt2pt
