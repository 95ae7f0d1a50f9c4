// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] patchbay {

class ParamRegistry;

enum class Outcome : unsigned char {
    chosen,       // won, or is in use
    lost,         // could, but another had the higher priority
    declined,     // its open or query failed
    excluded,     // the user's list leaves it out, or it lacks a capability
    incompatible, // the file cannot be used (version, toolchain, missing library)
    wraps,        // stands before what was chosen, because parameter <framework>_wrap names it
};
const char* to_string(Outcome outcome);

struct Decision {
    std::string framework; // "coll"
    std::string object;    // what it was chosen for: "job", "communicator MPI_COMM_WORLD"
    std::string candidate; // "tuned"
    Outcome outcome;
    int priority;          // meaningful for chosen and lost
    std::string reason;    // a phrase: "highest priority", "left out by btl=^sm (command line)"
    std::size_t times = 1; // later objects with the same decision are counted, not listed, so that the log stays small
};

// Why each choice was made. Records only while enabled (parameter `explain`). Safe from any thread.
class DecisionLog {
public:
    bool enabled() const noexcept { return _enabled.load(std::memory_order_relaxed); }
    void enable(bool on) noexcept { _enabled.store(on, std::memory_order_relaxed); }

    void record(std::string_view framework, std::string_view object, std::string_view candidate, Outcome outcome,
        int priority, std::string_view reason);
    std::vector<Decision> decisions() const;

    // The decisions not answered by this function before, as a table; empty when there are none.
    std::string take_table();

private:
    std::atomic<bool> _enabled = false;
    mutable std::mutex _mutex;
    std::vector<Decision> _decisions;
    std::size_t _shown = 0;
};

// Every parameter that has not its default value, with its origin, as a table; empty when there are none.
std::string non_default_params_table(const ParamRegistry& params);

} // namespace patchbay
