// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/thread_context.h"

namespace patchbay::threads {

namespace {
thread_local std::shared_ptr<ThreadContext> of_this_thread;
} // namespace

std::shared_ptr<ThreadContext> ThreadContext::enter(const WaitPolicy& policy, Progress& process, bool shares_bell) {
    if (of_this_thread == nullptr) {
        of_this_thread = std::make_shared<ThreadContext>(policy, process, shares_bell);
        process.begin_beside(of_this_thread->_progress);
        set_thread_views(&of_this_thread->_views);
    }
    ++of_this_thread->_communicators;
    return of_this_thread;
}

ThreadContext& ThreadContext::of_thread() noexcept {
    return *of_this_thread;
}

void ThreadContext::leave() noexcept {
    if (--of_this_thread->_communicators == 0) {
        set_thread_views(nullptr);
        of_this_thread->_process.end_beside();
        of_this_thread.reset();
    }
}

} // namespace patchbay::threads
