// SPDX-License-Identifier: BSD-3-Clause
#include "components/osc/rdma/job.h"

#include <algorithm>

namespace patchbay::osc::rdma {

Result<std::unique_ptr<Job>> Job::create(Context& context, btl::Transports& transports) {
    std::unique_ptr<Job> job(new Job(context, transports));
    btl::Consumer consumer;
    consumer.context = job.get();
    consumer.peer_failed = [](void* self, ProcessId process) noexcept { static_cast<Job*>(self)->note(process); };
    auto handle = transports.add_consumer(btl::ConsumerId::osc, consumer);
    if (!handle) {
        return handle.error();
    }
    job->_consumer = std::move(*handle);
    return Result<std::unique_ptr<Job>>(std::move(job));
}

void Job::add(Failures& failures, const Group& group) {
    const btl::Transports::Guard guard(_transports);
    _windows.push_back({&failures, &group});
    for (int member = 0; member < group.size(); ++member) {
        if (_transports.has_failed(group.process(member))) {
            failures.note(member);
        }
    }
}

void Job::remove(const Failures& failures) noexcept {
    const btl::Transports::Guard guard(_transports);
    std::erase_if(_windows, [&](const Watch& watch) { return watch.failures == &failures; });
}

Result<Jobs::Use> Jobs::use(Context& context) {
    const std::lock_guard hold(_mutex);
    if (_users == 0) {
        auto transports = context.transports();
        if (!transports) {
            return transports.error();
        }
        auto job = Job::create(context, **transports);
        if (!job) {
            return job.error();
        }
        _job = std::move(*job);
    }
    ++_users;
    return Use(*this, *_job);
}

void Jobs::end_use() noexcept {
    const std::lock_guard hold(_mutex);
    if (--_users == 0) {
        _job.reset();
    }
}

// With the lock of the transports held.
void Job::note(ProcessId process) noexcept {
    for (const Watch& watch : _windows) {
        if (const int member = watch.group->rank_of(process); member != MPI_UNDEFINED) {
            watch.failures->note(member);
        }
    }
    _progress.wake();
}

} // namespace patchbay::osc::rdma
