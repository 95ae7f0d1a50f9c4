// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/runtime.h"
#include "frameworks/pset/pset.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace patchbay::pset {

// The launcher's process sets. Each call queries the launcher; `Sets` caches the results.
class LauncherSets final : public Module {
public:
    explicit LauncherSets(Runtime& runtime) noexcept
        : _runtime(runtime) {}
    ~LauncherSets() override;

    Result<std::vector<std::string>> names() override;
    Result<Set> find(const std::string& name) override;
    bool is_current(const Set& set) const noexcept override;
    std::uint64_t requests() const noexcept override { return _requests.load(std::memory_order_relaxed); }

private:
    using Members = std::optional<std::vector<Run>>; // nothing: the set is deleted, or has members we cannot name

    void listen();
    Members members_of(const std::vector<ProcessName>& processes) const;
    Status know_jobs_of(const std::vector<ProcessName>& processes);

    Runtime& _runtime;
    std::set<std::string, std::less<>> _of_own_job; // names of sets of which no report tells; guarded by _mutex
    std::vector<JobNumber> _jobs; // other jobs that have members of a set; this module holds a reference to each
    bool _listens = false;
    std::atomic<std::uint64_t> _requests{0};
    mutable std::mutex _mutex;
    std::map<std::string, Members> _heard; // the latest report for each set; written by PMIx's thread
};

} // namespace patchbay::pset
