// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.h"

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

namespace patchbay {

namespace {

// stderr is one per process, and so is what stands before its lines.
std::atomic<int> log_rank = -1;
std::atomic<int> log_level = 0;

// The rank, or -1 when it is not known.
int known_rank() noexcept {
    const int rank = log_rank.load(std::memory_order_relaxed);
    if (rank >= 0) {
        return rank;
    }
    const char* text = std::getenv("PMIX_RANK");
    int from_launcher = -1;
    if (text != nullptr) {
        std::from_chars(text, text + std::strlen(text), from_launcher);
    }
    return from_launcher;
}

std::string prefix() {
    char host[HOST_NAME_MAX + 1] = {};
    if (gethostname(host, sizeof(host) - 1) != 0) {
        std::strcpy(host, "?");
    }
    const int rank = known_rank();
    std::string result = "[";
    result += host;
    if (rank >= 0) {
        result += ':' + std::to_string(rank);
    }
    return result + "] patchbay: ";
}

void write_all(std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return; // stderr is gone: there is nowhere left to say so
        }
        bytes.remove_prefix(std::size_t(written));
    }
}

void write_lines(std::string_view kind, std::string_view text) noexcept try {
    const int saved_errno = errno;
    const std::string start = prefix();
    std::string out;
    do {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += start;
        out += kind;
        out += text.substr(0, end);
        out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    } while (!text.empty());
    write_all(out);
    errno = saved_errno;
} catch (...) {
    // Out of memory: the bare text is better than nothing.
    write_all(text);
    write_all("\n");
}

} // namespace

void log_error(std::string_view text) noexcept {
    write_lines("error: ", text);
}

void log_warn(std::string_view text) noexcept {
    write_lines("warning: ", text);
}

void log_warn_job(std::string_view text) noexcept {
    if (log_speaks_for_job()) {
        log_warn(text);
    }
}

bool log_speaks_for_job() noexcept {
    return known_rank() <= 0;
}

bool log_enabled(int level) noexcept {
    return level <= log_level.load(std::memory_order_relaxed);
}

void log_verbose(int level, std::string_view text) noexcept {
    if (log_enabled(level)) {
        write_lines("", text);
    }
}

void set_log_level(int level) noexcept {
    log_level.store(level, std::memory_order_relaxed);
}

void set_log_rank(int rank) noexcept {
    log_rank.store(rank, std::memory_order_relaxed);
}

} // namespace patchbay
