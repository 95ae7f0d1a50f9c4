// SPDX-License-Identifier: BSD-3-Clause
#include "launch/head.h"

#include "core/base/random.h"
#include "core/param/sources.h"
#include "core/runtime/survivor_protocol.h"
#include "launch/placement.h"
#include "launch/program_search.h"
#include "launch/report.h"

#include <algorithm>
#include <limits>

namespace patchbay::launch {

namespace {

// The programs of a job, or the line to print and the exit status.
struct FoundPrograms {
    std::vector<Program> programs;
    std::string error;
    int exit_status = 0;
};

// --mca comes before -x of the parameter's variable, as before the environment.
bool is_parameter(std::string_view variable, const std::vector<NameValue>& parameters) {
    return variable.starts_with(param_env_prefix) &&
        std::ranges::find(parameters, variable.substr(std::string_view(param_env_prefix).size()), &NameValue::first) !=
        parameters.end();
}

FoundPrograms find_programs(
    const std::vector<AppSpec>& apps, const Environment& common, const std::vector<NameValue>& parameters) {
    FoundPrograms all;
    for (const AppSpec& app : apps) {
        FoundProgram found = find_program(app, common.get("PATH"));
        if (!found.error.empty()) {
            return {{}, std::move(found.error), found.exit_status};
        }
        Environment environment = common;
        for (const auto& [name, value] : app.environment) {
            if (!is_parameter(name, parameters)) {
                environment.set(name, value);
            }
        }
        all.programs.push_back({std::move(found.path), app.argv, app.working_directory, environment.entries()});
    }
    return all;
}

} // namespace

Head::Head(EventLoop& loop, Output& output, Timing& timing, const JobSpec& job, FileDescriptor link,
    std::function<void()> begun, std::function<void()> ended)
    : _loop(loop),
      _output(output),
      _job(job),
      _begun(std::move(begun)),
      _ended(std::move(ended)),
      _environment(Environment::inherited()),
      _supervisor(loop, output, timing, !job.go_on_after_failure, hooks()),
      _link(
          loop, std::move(link), [this](std::string_view bytes) { received(bytes); },
          [this] { _supervisor.agent_is_gone(); }) {}

Supervisor::Hooks Head::hooks() {
    return {[this] { send(EndAll{}); }, [this] { send(KillAll{}); }, [this](int signal) { send(PassSignal{signal}); },
        [this] { send(AnswerAborts{}); },
        [this] {
            if (_time_limit) { // only the reader of the output is waited for
                _loop.cancel(*_time_limit);
            }
            _ended();
        }};
}

void Head::give_up(int exit_status, const std::string& text) {
    report(text);
    _failed_start = exit_status;
    _ended();
}

void Head::start() {
    add_parameters(_environment, _job.parameters);
    if (_job.go_on_after_failure) {
        _environment.set(survivors_variable, "1");
    }
    FoundPrograms found = find_programs(_job.apps, _environment, _job.parameters);
    if (!found.error.empty()) {
        give_up(found.exit_status, found.error);
        return;
    }
    _programs = std::move(found.programs);
    if (_job.timeout) {
        _time_limit = _loop.after(*_job.timeout, [this] { _supervisor.time_limit_reached(*_job.timeout); });
    }
    send(Setup{static_cast<std::uint32_t>(random_bits()), _job.timing});
}

void Head::received(std::string_view bytes) {
    const Result<ToHead> message = decode_to_head(bytes);
    if (!message) {
        _output.message(message.error().text);
        _supervisor.agent_is_gone();
        return;
    }
    std::visit([this](const auto& m) { take(m); }, message.value());
}

void Head::take(const AgentReady& agent) {
    if (!agent.error.empty()) {
        give_up(exit_failure, agent.error);
        return;
    }
    if (_supervisor.is_ending()) { // the time limit has been reached already
        _ended();
        return;
    }
    _agent = agent;
    if (Status started = start_job(_job, std::move(_programs), nullptr); !started) {
        give_up(started.error().code == Errc::out_of_memory ? exit_failure : exit_usage, started.error().text);
        return;
    }
    _begun();
}

Status Head::start_job(const JobSpec& job, std::vector<Program> programs, const SpawnRequest* request) {
    if (_next_job == std::numeric_limits<JobNumber>::max()) {
        return Error{Errc::out_of_memory, "no further job can be started: 65,535 have been"};
    }
    const int cores = request == nullptr ? _agent.cores : std::max(_agent.cores - _supervisor.running(), 0);
    Result<JobLayout> layout = lay_out(job, _agent.hostname, cores);
    if (!layout) {
        return layout.error();
    }
    // Programs subtract the size of MPI_COMM_WORLD from it to learn how many processes they may start.
    layout->universe = std::max(_agent.cores, _supervisor.running() + layout->ranks);
    const JobNumber number = _next_job++;
    if (request != nullptr) {
        layout->parent = {_namespaces.at(request->parent.job), request->parent.rank};
        layout->parent_key = request->key;
        _spawns.emplace(number, *request);
    }
    _namespaces.emplace(number, layout->nspace);
    _supervisor.add_job(number, *layout);
    const BindTo bind_to = binding_of(job, *layout);
    send(StartJob{number, std::move(*layout), std::move(programs), bind_to, job.map_by});
    return {};
}

void Head::take(const JobStarted& started) {
    _supervisor.all_started(started.job);
    if (const auto spawn = _spawns.extract(started.job); !spawn.empty()) {
        send(SpawnAnswer{spawn.mapped().token, _namespaces.at(started.job), {}});
    }
}

void Head::take(const CannotStart& failure) {
    if (const auto spawn = _spawns.extract(failure.job); !spawn.empty()) {
        _supervisor.cannot_spawn(failure.job, failure.started);
        answer_failure(spawn.mapped(), failure.text);
    } else {
        _supervisor.cannot_start(failure.job, failure.started, failure.exit_status, failure.text);
    }
}

// MPI_Comm_spawn reports the cause by its error handler; a program that calls PMIx itself gets a number only.
void Head::answer_failure(const SpawnRequest& request, const std::string& error) {
    if (request.key.empty()) {
        _output.message("PMIx_Spawn: " + error);
    }
    send(SpawnAnswer{request.token, "", error});
}

void Head::take(const SpawnRequest& request) {
    JobSpec job;
    job.apps = request.apps;
    job.oversubscribe = _job.oversubscribe;
    job.bind_to = BindTo::none; // the ranks of other jobs may be bound to the cores
    FoundPrograms found = find_programs(job.apps, _environment, _job.parameters);
    std::string error = _supervisor.is_ending() ? "the run is being ended" : std::move(found.error);
    if (error.empty()) {
        if (Status started = start_job(job, std::move(found.programs), &request); !started) {
            error = started.error().text;
        }
    }
    if (!error.empty()) {
        answer_failure(request, error);
    }
}

} // namespace patchbay::launch
