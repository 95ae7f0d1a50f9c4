// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/job_table.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <tuple>

namespace patchbay {

JobTable::JobTable(Job own) {
    own.nonce = std::max<std::uint64_t>(own.nonce, 1);
    _entries.emplace(own_job, Entry{std::make_shared<const Job>(std::move(own)), 1, 0});
}

JobTable::Entries::const_iterator JobTable::entry_of(std::string_view nspace) const {
    return nspace.empty()
        ? _entries.end()
        : std::ranges::find_if(_entries, [nspace](const auto& entry) { return entry.second.job->nspace == nspace; });
}

JobTable::Entries::const_iterator JobTable::entry_with(std::uint64_t nonce) const {
    return std::ranges::find_if(_entries, [nonce](const auto& entry) { return entry.second.job->nonce == nonce; });
}

JobNumber JobTable::refer_to(Entries::const_iterator entry) {
    ++_entries.at(entry->first).references;
    return entry->first;
}

Result<JobNumber> JobTable::add(Job job) {
    job.nonce = std::max<std::uint64_t>(job.nonce, 1);
    const std::lock_guard lock(_mutex);
    if (const auto known = entry_of(job.nspace); known != _entries.end()) {
        return refer_to(known);
    }
    if (const auto same = entry_with(job.nonce); same != _entries.end()) {
        if (!same->second.job->nspace.empty()) {
            return Error{Errc::invalid, "two jobs have the same identifier, so that they cannot communicate"};
        }
        _entries.at(same->first).job = std::make_shared<const Job>(std::move(job));
        return refer_to(same);
    }
    return enter({std::make_shared<const Job>(std::move(job)), 1, 0});
}

Result<JobNumber> JobTable::hold(std::uint64_t nonce) {
    const std::lock_guard lock(_mutex);
    if (const auto known = entry_with(nonce); known != _entries.end()) {
        ++_entries.at(known->first).holds;
        return known->first;
    }
    return enter({std::make_shared<const Job>(Job{{}, nonce, 0, {}}), 0, 1});
}

Result<JobNumber> JobTable::enter(Entry entry) {
    if (_entries.size() > std::numeric_limits<JobNumber>::max()) {
        return Error{Errc::out_of_memory, "this process is connected to 65,535 jobs and can be to no more"};
    }
    do {
        ++_last; // wraps around
    } while (_entries.contains(_last));
    _entries.emplace(_last, std::move(entry));
    return _last;
}

std::optional<JobNumber> JobTable::add_reference(std::string_view nspace) {
    const std::lock_guard lock(_mutex);
    const auto known = entry_of(nspace);
    return known == _entries.end() ? std::nullopt : std::optional(refer_to(known));
}

void JobTable::leave(JobNumber number, std::uint32_t Entry::*count) noexcept {
    const auto entry = _entries.find(number);
    if (number == own_job || entry == _entries.end() || entry->second.*count == 0) {
        return;
    }
    --(entry->second.*count);
    if (entry->second.references == 0 && entry->second.holds == 0) {
        _entries.erase(entry);
    }
}

void JobTable::drop(JobNumber number) noexcept {
    const std::lock_guard lock(_mutex);
    leave(number, &Entry::references);
}

void JobTable::end_hold(JobNumber number) noexcept {
    const std::lock_guard lock(_mutex);
    leave(number, &Entry::holds);
}

std::vector<JobNumber> JobTable::unused() const {
    const std::shared_lock lock(_mutex);
    std::vector<JobNumber> unused;
    for (const auto& [number, entry] : _entries) {
        if (entry.references == 0) {
            unused.push_back(number);
        }
    }
    return unused;
}

std::shared_ptr<const Job> JobTable::job(JobNumber number) const {
    const std::shared_lock lock(_mutex);
    const auto entry = _entries.find(number);
    return entry == _entries.end() ? nullptr : entry->second.job;
}

std::optional<JobNumber> JobTable::find(std::string_view nspace) const {
    const std::shared_lock lock(_mutex);
    const auto entry = entry_of(nspace);
    return entry == _entries.end() ? std::nullopt : std::optional(entry->first);
}

std::optional<JobNumber> JobTable::find_nonce(std::uint64_t nonce) const {
    const std::shared_lock lock(_mutex);
    const auto entry = entry_with(nonce);
    return entry == _entries.end() ? std::nullopt : std::optional(entry->first);
}

std::uint64_t JobTable::nonce_of(JobNumber number) const {
    const std::shared_lock lock(_mutex);
    const auto entry = _entries.find(number);
    return entry == _entries.end() ? 0 : entry->second.job->nonce;
}

std::size_t JobTable::size() const {
    const std::shared_lock lock(_mutex);
    return _entries.size();
}

std::optional<ProcessId> JobTable::id_of(const ProcessName& name) const {
    const std::shared_lock lock(_mutex);
    const auto entry = entry_of(name.nspace);
    const bool exists = entry != _entries.end() && name.rank < entry->second.job->size;
    return exists ? std::optional(ProcessId{entry->first, name.rank}) : std::nullopt;
}

std::optional<ProcessName> JobTable::name_of(ProcessId process) const {
    const std::shared_ptr<const Job> found = job(process.job);
    const bool exists = found != nullptr && process.rank < found->size;
    return exists ? std::optional(ProcessName{found->nspace, process.rank}) : std::nullopt;
}

bool JobTable::precedes(ProcessId a, ProcessId b) const {
    const std::uint64_t job_of_a = nonce_of(a.job);
    const std::uint64_t job_of_b = a.job == b.job ? job_of_a : nonce_of(b.job);
    return std::tie(job_of_a, a.thread, a.rank) < std::tie(job_of_b, b.thread, b.rank);
}

JobReferences::JobReferences(JobTable& table) noexcept
    : _table(table) {}

JobReferences::~JobReferences() {
    for (const JobNumber job : _jobs) {
        _table.drop(job);
    }
}

void JobReferences::take(JobNumber job) {
    _jobs.push_back(job);
}

void JobReferences::add(std::shared_ptr<const JobReferences> others) {
    _others.push_back(std::move(others));
}

} // namespace patchbay
