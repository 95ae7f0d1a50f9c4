// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

// What the launcher handed to this process when it was started. It outlives every use of the library: it is a property
// of the process, as environ is, and the only thing that core/runtime keeps between two lifetimes.
class LaunchEnvironment {
public:
    static LaunchEnvironment& of_process();

    // Gives the variables that make a process a rank their hidden names, so that a program which this process starts is
    // not taken for this rank; leaves child_variable behind. hide() and show() come in pairs. Other threads of the
    // program may read the environment meanwhile, so that names are changed in place.
    void hide();
    // Puts them back, for a PMIx_Init.
    void show();

    // The value of a variable, hidden or not; empty when it is not set.
    std::string value(const char* name) const;
    // Whether a PMIx launcher gave this process a rank.
    bool has_pmix() const;
    // Whether it has also published the address of its server. Only while shown.
    bool names_pmix_server() const;

    // The descriptor of the node segment: inherited from mpirun, or opened when it was first attached. Kept until the
    // process ends, because peers may have it mapped when this process comes back. -1: none yet.
    int segment_fd() const noexcept { return _segment_fd; }
    // The descriptor of the table of node_reports.h, inherited from mpirun; -1: there is none.
    int reports_fd() const noexcept { return _reports_fd; }
    bool segment_is_inherited() const noexcept { return _segment_fd >= 0 && !_segment_is_ours; }
    void keep_segment_fd(int fd) noexcept {
        _segment_fd = fd;
        _segment_is_ours = true;
    }

    // What was published under a key, over all lifetimes: a PMIx key cannot be given a second value.
    std::map<std::string, std::string, std::less<>>& published() noexcept { return _published; }
    // What components leave to their next generation (Runtime::keep). Bytes, because a component's code may be unloaded
    // between two generations.
    std::map<std::string, std::vector<std::byte>, std::less<>>& kept() noexcept { return _kept; }
    std::mutex& mutex() noexcept { return _mutex; }
    // How many runtimes this process has had.
    std::uint32_t lifetimes = 0;
    // Of the job of this process, as the launcher provides it; 0: not asked for yet. Several threads may ask at once.
    std::atomic<std::uint64_t> job_nonce = 0;
    std::atomic<std::uint32_t> job_run = 0; // job_run_key, in the same way

private:
    LaunchEnvironment();
    std::map<std::string, std::string, std::less<>> _hidden;
    std::map<std::string, std::string, std::less<>> _published;
    std::map<std::string, std::vector<std::byte>, std::less<>> _kept;
    std::mutex _mutex;
    int _segment_fd = -1;
    const int _reports_fd;
    bool _segment_is_ours = false;
};

// Set in the environment of a rank: a process that has it and no PMIx server was started by a rank as an ordinary
// program, so it is a singleton, whatever the launcher's other variables are.
// Its value is the rank of that process; not its namespace, which only the ranks of a job need to know. mpirun sets it
// under its hidden name, so that LaunchEnvironment::hide() need not add a variable.
inline constexpr char child_variable[] = "PATCHBAY_CHILD_OF_RANK";

// The first byte of a hidden name, in place of that of the name.
inline constexpr char hidden_initial = '_';
inline std::string hidden_name(std::string_view name) {
    return hidden_initial + std::string(name.substr(1));
}

} // namespace patchbay
