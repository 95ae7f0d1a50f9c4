// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/job_exchange.h"

#include "launch/pmix/info_list.h"
#include "launch/pmix/job_info.h"

#include <algorithm>
#include <pmix_server.h>

namespace patchbay::launch {

namespace {

constexpr std::chrono::seconds time_to_find{5};
// How long the answer to a ModexRequest waits for the key. The client asks again as long as it waits itself.
constexpr std::chrono::milliseconds time_to_publish{1000};
constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_pause{50};

JobLayout layout_of(const RunJob& job) {
    JobLayout layout;
    layout.nspace = job.nspace;
    layout.nonce = job.nonce;
    layout.hostname = job.hostname;
    layout.ranks = job.ranks;
    layout.universe = job.universe;
    for (const int size : job.app_sizes) {
        const int first = layout.apps.empty() ? 0 : layout.apps.back().first_rank + layout.apps.back().size;
        layout.apps.push_back({first, size, {}, {}});
    }
    return layout;
}

// Whether the numbers of the ranks agree, which job_info() relies on.
bool is_valid(const RunJob& job) {
    std::int64_t ranks = 0;
    for (const int size : job.app_sizes) {
        ranks += size;
        if (size < 0) {
            return false;
        }
    }
    return !job.nspace.empty() && job.nspace.size() <= PMIX_MAX_NSLEN && job.ranks > 0 && ranks == job.ranks;
}

bool has_gone(const RunJob& job, std::uint32_t rank) {
    return std::ranges::any_of(job.gone, [rank](const RunJob::Gone& gone) { return gone.rank == rank; });
}

} // namespace

JobExchange::JobExchange(EventLoop& loop, JobDirectory& jobs, RunLinks& links, std::uint32_t run_number, Hooks hooks)
    : _loop(loop),
      _jobs(jobs),
      _links(links),
      _run_number(run_number),
      _hooks(std::move(hooks)) {}

void JobExchange::add_own(JobNumber job, const JobLayout& layout) {
    RunJob& own = _own[job];
    own = {
        _links.own(), _run_number, layout.nspace, layout.nonce, layout.hostname, layout.ranks, layout.universe, {}, {}};
    for (const JobLayout::App& app : layout.apps) {
        own.app_sizes.push_back(app.size);
    }
}

void JobExchange::own_rank_ended(ProcessId rank, RankEnd end) {
    if (const auto own = _own.find(rank.job); own != _own.end()) {
        own->second.gone.push_back({rank.rank, end});
        _links.send_to_all(RankGone{{own->second.nspace, rank.rank}, end});
    }
}

void JobExchange::drop_own(JobNumber job) {
    if (const auto own = _own.extract(job); !own.empty()) {
        _links.send_to_all(JobGone{own.mapped().nspace});
    }
}

Status JobExchange::learn(const RunJob& job) {
    if (_jobs.job(job.nspace)) {
        return {};
    }
    if (!is_valid(job)) {
        return Error{Errc::invalid, "another mpirun describes a job in a way that this one does not understand"};
    }
    InfoList infos = foreign_job_info(layout_of(job), job.run_number);
    // Blocks until PMIx's thread has done it, as that of a job of this run.
    const pmix_status_t status =
        PMIx_server_register_nspace(job.nspace.c_str(), 0, infos.data(), infos.size(), nullptr, nullptr);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        return Error{Errc::system, std::string("PMIx_server_register_nspace: ") + PMIx_Error_string(status)};
    }
    const std::optional<JobNumber> number = _jobs.add_foreign(job.run, job.nspace, job.ranks);
    if (!number) {
        return Error{Errc::system, "there are too many jobs"};
    }
    _foreign.emplace(job.nspace, Foreign{*number, job});
    for (const RunJob::Gone& gone : job.gone) {
        _hooks.ended({*number, gone.rank}, gone.end);
    }
    return {};
}

void JobExchange::find(const std::string& nspace, Found found) {
    if (_jobs.job(nspace)) {
        found(true);
        return;
    }
    auto inquiry = std::make_shared<Inquiry>(Inquiry{nspace, std::move(found), 0, {}});
    for (const std::string& run : _links.connected()) {
        ask(inquiry, run);
    }
    if (inquiry->missing == 0) {
        finish(inquiry, false);
        return;
    }
    inquiry->timer = _loop.after(time_to_find, [this, inquiry] {
        inquiry->timer.reset();
        finish(inquiry, false);
    });
}

void JobExchange::ask(const std::shared_ptr<Inquiry>& inquiry, const std::string& run) {
    ++inquiry->missing;
    _links.ask(run, JobRequest{0, inquiry->nspace}, [this, inquiry, run](const RunMessage* answer) {
        answered(inquiry, run, answer == nullptr ? nullptr : std::get_if<JobAnswer>(answer));
    });
}

void JobExchange::answered(const std::shared_ptr<Inquiry>& inquiry, const std::string& run, const JobAnswer* answer) {
    --inquiry->missing;
    if (!inquiry->found) {
        return;
    }
    if (answer != nullptr && answer->job && answer->job->nspace == inquiry->nspace) {
        // Only the job's own run knows which of its ranks have ended, and reports it later.
        if (answer->job->run == run) {
            finish(inquiry, bool(learn(*answer->job)));
            return;
        }
        if (_links.reach(answer->job->run)) {
            ask(inquiry, answer->job->run);
        }
    }
    if (inquiry->missing == 0) {
        finish(inquiry, false);
    }
}

void JobExchange::finish(const std::shared_ptr<Inquiry>& inquiry, bool known) {
    if (inquiry->timer) {
        _loop.cancel(*inquiry->timer);
        inquiry->timer.reset();
    }
    if (const Found found = std::exchange(inquiry->found, nullptr)) {
        found(known);
    }
}

void JobExchange::fetch(const pmix_proc_t& process, const std::string& key, Fetched fetched) {
    const auto foreign = _foreign.find(std::string_view(process.nspace));
    if (foreign == _foreign.end()) {
        fetched(PMIX_ERR_NOT_FOUND, "");
        return;
    }
    const auto done = [fetched = std::move(fetched)](const RunMessage* message) {
        const auto* answer = message == nullptr ? nullptr : std::get_if<ModexAnswer>(message);
        fetched(answer == nullptr ? PMIX_ERR_NOT_FOUND : answer->status, answer == nullptr ? "" : answer->bytes);
    };
    _links.ask(foreign->second.job.run, ModexRequest{0, {process.nspace, process.rank}, key}, done);
}

void JobExchange::take(const std::string& run, const JobRequest& request) {
    JobAnswer answer{request.token, {}};
    for (const auto& [number, own] : _own) {
        if (own.nspace == request.nspace) {
            answer.job = own;
        }
    }
    if (const auto foreign = _foreign.find(request.nspace); foreign != _foreign.end()) {
        answer.job = foreign->second.job;
    }
    _links.send(run, answer);
}

struct JobExchange::Publication {
    std::string run;
    ModexRequest request;
    EventLoop::Clock::time_point deadline;
    std::chrono::milliseconds pause = first_pause;
    bool is_answered = false;
};

bool JobExchange::has_ended(const RunProcess& process) const {
    const std::optional<JobDirectory::Job> job = _jobs.job(process.nspace);
    const auto own = job ? _own.find(job->number) : _own.end();
    return own == _own.end() || process.rank >= job->ranks || has_gone(own->second, process.rank);
}

void JobExchange::take(const std::string& run, const ModexRequest& request) {
    const auto publication =
        std::make_shared<Publication>(Publication{run, request, EventLoop::Clock::now() + time_to_publish});
    look_for(publication);
    // The server does not answer before the first commit of the process.
    if (!publication->is_answered) {
        _loop.after(time_to_publish + longest_pause, [this, publication] { answer(*publication, nullptr); });
    }
}

// The server answers after the first commit of the process, with all that it has published; nothing announces a later
// commit.
void JobExchange::look_for(const std::shared_ptr<Publication>& publication) {
    const RunProcess& process = publication->request.process;
    if (has_ended(process)) {
        published(publication, PMIX_ERR_NOT_FOUND, "");
        return;
    }
    struct Context {
        JobExchange* exchange;
        std::shared_ptr<Publication> publication;
    };
    auto* context = new Context{this, publication};
    const auto got = [](pmix_status_t status, char* data, std::size_t size, void* pointer) {
        const std::unique_ptr<Context> context(static_cast<Context*>(pointer));
        std::string bytes = data == nullptr ? std::string() : std::string(data, size);
        context->exchange->_loop.post(
            [exchange = context->exchange, publication = context->publication, status, bytes = std::move(bytes)] {
                exchange->published(publication, status, bytes);
            });
    };
    const pmix_proc_t proc = make_proc(process.nspace, process.rank);
    const pmix_status_t status = PMIx_server_dmodex_request(&proc, got, context);
    if (status != PMIX_SUCCESS) {
        delete context; // PMIx does not call back then
        published(publication, status, "");
    }
}

void JobExchange::published(
    const std::shared_ptr<Publication>& publication, pmix_status_t status, const std::string& bytes) {
    const ModexRequest& request = publication->request;
    // The keys are contained as they are: there is no compression (server.cpp). If there is some after all, the client
    // finds that the key is missing, and asks again.
    const bool is_there = status == PMIX_SUCCESS && bytes.find(request.key) != std::string::npos;
    if (!is_there && !has_ended(request.process) && EventLoop::Clock::now() < publication->deadline) {
        _loop.after(publication->pause, [this, publication] { look_for(publication); });
        publication->pause = std::min(publication->pause * 2, longest_pause);
        return;
    }
    answer(*publication, is_there ? &bytes : nullptr);
}

void JobExchange::answer(Publication& publication, const std::string* bytes) {
    if (!std::exchange(publication.is_answered, true)) {
        _links.send(publication.run,
            ModexAnswer{publication.request.token, bytes != nullptr ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND,
                bytes != nullptr ? *bytes : std::string()});
    }
}

void JobExchange::take(const std::string& run, const RankGone& report) {
    const auto foreign = _foreign.find(report.process.nspace);
    if (foreign != _foreign.end() && foreign->second.job.run == run) {
        rank_ended(foreign->second, report.process.rank, report.end);
    }
}

void JobExchange::take(const std::string& run, const JobGone& report) {
    const auto foreign = _foreign.find(report.nspace);
    if (foreign != _foreign.end() && foreign->second.job.run == run) {
        drop(report.nspace);
    }
}

void JobExchange::rank_ended(Foreign& foreign, std::uint32_t rank, RankEnd end) {
    if (rank < std::uint32_t(foreign.job.ranks)) {
        foreign.job.gone.push_back({rank, end});
        _hooks.ended({foreign.number, rank}, end);
    }
}

void JobExchange::run_ended(const std::string& run) {
    std::vector<std::string> its_jobs;
    for (const auto& [nspace, foreign] : _foreign) {
        if (foreign.job.run == run) {
            its_jobs.push_back(nspace);
        }
    }
    for (const std::string& nspace : its_jobs) {
        Foreign& foreign = _foreign.at(nspace);
        for (std::uint32_t rank = 0; rank < std::uint32_t(foreign.job.ranks); ++rank) {
            if (!has_gone(foreign.job, rank)) {
                rank_ended(foreign, rank, RankEnd::signal);
            }
        }
        drop(nspace);
    }
}

void JobExchange::drop(const std::string& nspace) {
    const JobNumber number = _foreign.extract(nspace).mapped().number;
    _jobs.remove(number);
    _hooks.gone(number);
    PMIx_server_deregister_nspace(
        nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
}

} // namespace patchbay::launch
