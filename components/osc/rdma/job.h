// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/failures.h"
#include "frameworks/btl/transports.h"
#include "frameworks/context.h"
#include "object/group.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchbay::osc::rdma {

// What the windows of a job share: they learn of processes that fail. Exists as long as there is a window.
class Job {
public:
    // Errors: those of Transports::add_consumer.
    static Result<std::unique_ptr<Job>> create(Context& context, btl::Transports& transports);

    btl::Transports& transports() noexcept { return _transports; }
    Progress& progress() noexcept { return _progress; }

    // From now on the failures of members are noted, also of those that have failed already. Throws std::bad_alloc.
    void add(Failures& failures, const Group& group);
    void remove(const Failures& failures) noexcept;

private:
    struct Watch {
        Failures* failures;
        const Group* group;
    };
    Job(Context& context, btl::Transports& transports) noexcept
        : _transports(transports),
          _progress(context.progress()) {}
    void note(ProcessId process) noexcept;

    btl::Transports& _transports;
    Progress& _progress;
    std::vector<Watch> _windows; // under the lock of the transports
    btl::ConsumerHandle _consumer;
};

// The job of a component, for the windows that use it. Any thread.
class Jobs {
public:
    class Use {
    public:
        Use() = default;
        Use(Jobs& jobs, Job& job) noexcept
            : _jobs(&jobs),
              _job(&job) {}
        Use(Use&& other) noexcept
            : _jobs(std::exchange(other._jobs, nullptr)),
              _job(other._job) {}
        Use& operator=(Use&&) = delete;
        ~Use() {
            if (_jobs != nullptr) {
                _jobs->end_use();
            }
        }
        Job* operator->() const noexcept { return _job; }
        Job& operator*() const noexcept { return *_job; }

    private:
        Jobs* _jobs = nullptr;
        Job* _job = nullptr;
    };

    // Makes the job for its first user. Throws std::bad_alloc. Errors: those of Context::transports() and
    // Job::create().
    Result<Use> use(Context& context);

private:
    void end_use() noexcept;

    std::mutex _mutex; // protects what follows
    std::unique_ptr<Job> _job;
    std::size_t _users = 0;
};

} // namespace patchbay::osc::rdma
