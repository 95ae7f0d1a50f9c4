// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/threads/thread_context.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace patchbay::threads {

namespace {
std::mutex numbers_mutex;
std::vector<bool> used_numbers; // from 1 on

thread_local std::shared_ptr<ThreadContext> of_this_thread;
} // namespace

ThreadNumber::ThreadNumber() {
    const std::lock_guard lock(numbers_mutex);
    const auto free = std::ranges::find(used_numbers, false);
    const auto index = std::size_t(free - used_numbers.begin());
    if (index == std::numeric_limits<std::uint16_t>::max()) {
        throw std::bad_alloc();
    }
    if (free == used_numbers.end()) {
        used_numbers.push_back(true);
    } else {
        *free = true;
    }
    _value = std::uint16_t(index + 1);
}

ThreadNumber::~ThreadNumber() {
    const std::lock_guard lock(numbers_mutex);
    used_numbers[std::size_t(_value) - 1] = false;
}

std::shared_ptr<ThreadContext> ThreadContext::enter(
    Progress& process, bool shares_bell, int threads, std::optional<unsigned> cores) {
    if (of_this_thread == nullptr) {
        auto context = std::make_shared<ThreadContext>(process, shares_bell);
        if (cores) {
            context->_core_share.emplace(context->_progress, *cores, threads);
        }
        of_this_thread = std::move(context);
        process.begin_beside(of_this_thread->_progress);
        set_thread_views(&of_this_thread->_views);
    } else if (of_this_thread->_core_share) {
        of_this_thread->_core_share->expect(threads);
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
        of_this_thread->_core_share.reset();
        of_this_thread.reset();
    }
}

} // namespace patchbay::threads
