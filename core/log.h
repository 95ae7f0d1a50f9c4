// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <string_view>

namespace [[gnu::visibility("default")]] patchbay {

// Every call writes `[host:rank] patchbay: text` to stderr with one write(2), so that lines of several processes do not
// mix. A text of several lines gets the prefix on each of them. Safe from any thread; never throws.
void log_error(std::string_view text) noexcept;
void log_warn(std::string_view text) noexcept;

// For a message that would be the same in every process of the job (an incompatible plugin, a misspelt parameter): only
// rank 0 prints it. A process whose rank is not known yet prints it as well.
void log_warn_job(std::string_view text) noexcept;

// Whether this process prints messages of the whole job: rank 0, or a process that no launcher gave a rank.
bool log_speaks_for_job() noexcept;

// Verbose output, off unless the parameter `verbose` is at least `level`: 1 what was chosen, 2 what was tried, 3
// details. Ask log_enabled first when the text is expensive to make.
bool log_enabled(int level) noexcept;
void log_verbose(int level, std::string_view text) noexcept;
void set_log_level(int level) noexcept;

// The rank that stands in the prefix. Until it is set, the launcher's environment (PMIX_RANK) is used.
// A negative rank forgets it.
void set_log_rank(int rank) noexcept;

// Prints its text the first time only. The caller keeps the object; there is no global list.
class LogOnce {
public:
    void warn(std::string_view text) noexcept {
        if (is_first()) {
            log_warn(text);
        }
    }
    void error(std::string_view text) noexcept {
        if (is_first()) {
            log_error(text);
        }
    }

private:
    bool is_first() noexcept { return !_said.exchange(true, std::memory_order_relaxed); }

    std::atomic<bool> _said = false;
};

} // namespace patchbay
