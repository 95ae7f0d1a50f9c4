// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/runtime/job_table.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class Runtime;

// One program of a job that is to be started.
struct SpawnProgram {
    std::string command;
    std::vector<std::string> arguments;
    int processes = 0;
    std::string working_directory;        // absolute
    std::string search_path;              // directories that are searched before PATH, separated by colons
    std::vector<std::string> environment; // NAME=VALUE, in addition to the environment of mpirun
    std::vector<std::string> psets;       // names of process sets of the new job (check_pset_name), each once
};

// A request to the launcher under way, to be polled: done() turns true on the PMIx library's thread, which then calls
// the hook of Runtime::set_wake.
class LauncherRequest {
public:
    bool done() const noexcept;
    // The others only once done() is true. Errc::not_found: there is no such port or name, or the port has been closed.
    // timed_out; peer_failed; unsupported: not with this launcher; invalid: see the request; system.
    Status status() const;
    // Of a spawn: the namespace of the new job. Of a look-up: the value. Of open_port: the name.
    const std::string& text() const noexcept;
    // Of accept and connect: the other process, and a number that no other pair has.
    const ProcessName& peer() const noexcept;
    std::uint64_t pair() const noexcept;

private:
    friend class LauncherServices;
    friend struct LauncherCallbacks;
    struct State;
    std::shared_ptr<State> _state;
};

// What Patchbay's mpirun does for the dynamic processes of MPI (MPI-5.0, 11). Thread-safe; no function blocks but
// parent(). Errc::unsupported: this process runs alone, or under another launcher.
class LauncherServices {
public:
    explicit LauncherServices(Runtime& runtime) noexcept
        : _runtime(runtime) {}

    // Starts a job. `key` is a name of this call that no other one has; the new processes get it by parent_key().
    // When it fails, failure() asks for the cause, once.
    Result<LauncherRequest> spawn(const std::vector<SpawnProgram>& programs, std::string_view key);
    Result<LauncherRequest> failure(std::string_view key);
    Result<LauncherRequest> forget_failure(std::string_view key);
    // Whether MPI_Comm_spawn has started this process: the key of that call; empty: it has not.
    static std::string parent_key();
    // The process that has made that call.
    Result<ProcessName> parent() const;

    // text() is the name of the port then, which begins with `name`: processes of other mpirun of the user find it by
    // that. invalid: the port exists already.
    Result<LauncherRequest> open_port(std::string_view name);
    Result<LauncherRequest> close_port(std::string_view name);
    // 0: without a time limit. invalid: both ends are the same process.
    Result<LauncherRequest> accept(std::string_view name, std::chrono::milliseconds limit);
    Result<LauncherRequest> connect(std::string_view name, std::chrono::milliseconds limit);

    // Names of services, which processes of this mpirun look up, or of all mpirun of the user on this machine. publish:
    // invalid: the name is in use; not_available: there can be no socket for other mpirun. unpublish: not_found: not
    // published by this process.
    enum class Scope { mpirun, user };
    Result<LauncherRequest> publish(std::string_view service, const std::string& value, Scope scope);
    Result<LauncherRequest> look_up(std::string_view service, Scope scope);
    Result<LauncherRequest> unpublish(std::string_view service);
    // The longest name of a service.
    static constexpr std::size_t longest_service = 480;

private:
    Result<LauncherRequest> new_request(std::string what) const;
    Result<LauncherRequest> port_request(const char* key, std::string_view name, std::chrono::milliseconds limit);
    Result<LauncherRequest> look_up_name(const std::string& name, std::string what, Scope scope);
    Result<LauncherRequest> unpublish_name(const std::string& name, std::string what);

    Runtime& _runtime;
};

} // namespace patchbay
