// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.h"

#include "core/base/strings.h"
#include "tests/core/captured_stderr.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

using namespace patchbay;

namespace {

// What log_error("text") would print now, without the host.
std::string prefix_after_host() {
    CapturedStderr captured;
    log_error("text");
    const std::string line = captured.text();
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    const std::string start = "[" + std::string(host);
    EXPECT_TRUE(line.starts_with(start)) << line;
    return line.substr(std::min(start.size(), line.size()));
}

} // namespace

TEST(Log, PrefixNamesHostAndRank) {
    unsetenv("PMIX_RANK");
    EXPECT_EQ(prefix_after_host(), "] patchbay: error: text\n");
    setenv("PMIX_RANK", "3", 1);
    EXPECT_EQ(prefix_after_host(), ":3] patchbay: error: text\n");
    set_log_rank(7);
    EXPECT_EQ(prefix_after_host(), ":7] patchbay: error: text\n");
    set_log_rank(-1);
    unsetenv("PMIX_RANK");
}

TEST(Log, EveryLineOfATextHasThePrefix) {
    CapturedStderr captured;
    log_warn("one\ntwo");
    EXPECT_EQ(count_of(captured.text(), "] patchbay: warning: "), 2u);
    EXPECT_EQ(count_of(captured.text(), "\n"), 2u);
}

TEST(Log, OnlyRankZeroPrintsForTheJob) {
    CapturedStderr captured;
    set_log_rank(1);
    log_warn_job("not this");
    set_log_rank(0);
    log_warn_job("but this");
    set_log_rank(-1);
    EXPECT_EQ(count_of(captured.text(), "not this"), 0u);
    EXPECT_EQ(count_of(captured.text(), "but this"), 1u);
}

TEST(Log, VerboseLevelsAreOffByDefault) {
    CapturedStderr captured;
    log_verbose(1, "silent");
    set_log_level(2);
    log_verbose(2, "detailed");
    log_verbose(3, "silent");
    set_log_level(0);
    EXPECT_EQ(count_of(captured.text(), "silent"), 0u);
    EXPECT_EQ(count_of(captured.text(), "detailed"), 1u);
}

TEST(Log, OnceIsOnceEvenFromThreads) {
    CapturedStderr captured;
    LogOnce once;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] { once.warn("only once"); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(count_of(captured.text(), "only once"), 1u);
}

TEST(Log, LinesOfThreadsDoNotMix) {
    CapturedStderr captured;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([i] {
            for (int k = 0; k < 200; ++k) {
                log_warn(std::string(100, char('a' + i)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::vector<std::string> lines = split(captured.text(), '\n');
    ASSERT_EQ(lines.size(), 800u);
    for (const std::string& line : lines) {
        const std::string body = line.substr(line.rfind(' ') + 1);
        EXPECT_EQ(body, std::string(100, body.at(0)));
    }
}

TEST(Log, KeepsErrno) {
    CapturedStderr captured;
    errno = ENOSPC;
    log_error("disk full");
    EXPECT_EQ(errno, ENOSPC);
}
