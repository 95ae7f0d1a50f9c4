// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/host.h"

#include "launch/pmix/info_list.h"
#include "launch/pmix/pmix_thread.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

namespace patchbay::launch {

PmixHost::PmixHost(EventLoop& loop, RankEvents& rank_events, std::uint32_t run_number, std::string socket_file)
    : loop(loop),
      rank_events(rank_events),
      listener(loop, std::move(socket_file)),
      links(loop, listener, run_number),
      names(loop, rank_events, listener),
      ports(loop, jobs, run_number),
      groups(jobs, run_number),
      job_exchange(loop, jobs, links, run_number,
          {[this](ProcessId rank, RankEnd end) {
               connected(rank); // how else would this run know it?
               rank_ended(rank, end);
           },
              [this](JobNumber job) { job_ended(job); }}),
      port_exchange(loop, jobs, links, job_exchange, ports),
      group_exchange(loop, jobs, links, job_exchange, groups) {
    links.set_handlers({[this](const std::string& run, const RunMessage& message) { received(run, message); },
        [this](const std::string& run) { job_exchange.run_ended(run); }});
}

void PmixHost::received(const std::string& run, const RunMessage& message) {
    std::visit(
        [&]<class T>(const T& m) {
            if constexpr (std::is_same_v<T, ConnectRequest>) {
                port_exchange.take(run, m);
            } else if constexpr (std::is_same_v<T, ConnectDecision> || std::is_same_v<T, ConnectCancel>) {
                port_exchange.take(m);
            } else if constexpr (std::is_same_v<T, GroupRequest>) {
                group_exchange.take(run, m);
            } else if constexpr (requires { job_exchange.take(run, m); }) {
                job_exchange.take(run, m);
            }
        },
        message);
}

void PmixHost::connected(ProcessId rank) {
    _in_mpi[rank.job].insert(rank.rank);
    if (const auto silent = _silent_ends.extract(rank.job)) {
        for (const ProcessId ended : silent.mapped()) {
            take_end(ended, RankEnd::exit_status);
        }
    }
}

void PmixHost::rank_ended(ProcessId rank, RankEnd end) {
    jobs.ended(rank);
    on_pmix_thread([this, rank] { groups.ended(rank); });
    ports.ended(rank);
    port_exchange.ended(rank);
    const auto begun = _in_mpi.find(rank.job);
    if (end != RankEnd::clean || (begun != _in_mpi.end() && begun->second.contains(rank.rank))) {
        take_end(rank, end);
    } else if (begun != _in_mpi.end()) {
        take_end(rank, RankEnd::exit_status);
    } else {
        _silent_ends[rank.job].push_back(rank);
    }
}

void PmixHost::take_end(ProcessId rank, RankEnd end) {
    if (end != RankEnd::clean) {
        _failed.insert(rank.job);
    } else if (!concerns_failure(rank.job)) {
        _clean_ends[rank.job].push_back(rank);
        return;
    }
    report_end(rank, end);
    std::erase_if(_clean_ends, [this](const auto& one) {
        const bool concerned = concerns_failure(one.first);
        for (const ProcessId before : concerned ? std::span(one.second) : std::span<const ProcessId>()) {
            report_end(before, RankEnd::clean);
        }
        return concerned;
    });
}

bool PmixHost::concerns_failure(JobNumber job) const {
    return std::ranges::any_of(
        _failed, [this, job](JobNumber failed) { return failed == job || _in_mpi.contains(failed); });
}

void PmixHost::report_end(ProcessId rank, RankEnd end) {
    pmix_proc_t proc = jobs.name_of(rank);
    auto* infos = new InfoList;
    infos->add_proc(PMIX_EVENT_AFFECTED_PROC, proc);
    infos->add_flag(PMIX_EVENT_NON_DEFAULT);
    const pmix_status_t code = end == RankEnd::signal ? PMIX_ERR_PROC_ABORTED
        : end == RankEnd::exit_status                 ? PMIX_ERR_EXIT_NONZERO_TERM
                                                      : PMIX_EVENT_PROC_TERMINATED;
    const auto release = [](pmix_status_t, void* data) { delete static_cast<InfoList*>(data); };
    const pmix_status_t status =
        PMIx_Notify_event(code, &proc, PMIX_RANGE_SESSION, infos->data(), infos->size(), release, infos);
    if (status != PMIX_SUCCESS) {
        delete infos; // PMIx does not call back then
    }
}

void PmixHost::job_ended(JobNumber job) {
    _clean_ends.erase(job);
    _silent_ends.erase(job);
    if (!_failed.contains(job) || !_in_mpi.contains(job)) { // no other job is concerned
        _failed.erase(job);
        _in_mpi.erase(job);
    }
}

} // namespace patchbay::launch
