// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/pmix/rank_end.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace patchbay::launch {

// The messages between two mpirun of one user, whose jobs are connected by a port (run_links.h). A run is named by its
// socket file (user_socket.h). They contain namespaces, which are secrets: only processes of the same user can be at
// the other end of such a socket.

// A job as the PMIx server of another run must know it.
struct RunJob {
    struct Gone {
        std::uint32_t rank = 0;
        RankEnd end = RankEnd::clean;
    };
    std::string run;
    std::uint32_t run_number = 0; // core/runtime/job_protocol.h
    std::string nspace;
    std::uint64_t nonce = 0;
    std::string hostname;
    int ranks = 0;
    int universe = 0;
    std::vector<int> app_sizes;
    std::vector<Gone> gone; // the ranks that have ended
};

// A process of a job. The job is known to the receiver, or it finds the job by JobRequest.
struct RunProcess {
    std::string nspace;
    std::uint32_t rank = 0;
};

// The first message of the run that has made the connection. `prefix`: of the group identifiers of that run, which must
// not be that of the receiver; otherwise the receiver closes the connection.
struct Hello {
    std::string run;
    std::uint32_t prefix = 0;
};

// Requests have a token of the sender, which the answer repeats.

// A process wants to connect at a port of the receiver. The answer comes when a process has accepted. When the status
// is PMIX_SUCCESS, the sender of the request decides whether the pair exists: its process may have ended, or its time
// limit may be over.
struct ConnectRequest {
    std::uint64_t token = 0;
    std::string port;
    std::uint64_t limit_milliseconds = 0; // 0: none
    RunJob job;                           // of the process
    std::uint32_t rank = 0;
};
struct ConnectAnswer {
    std::uint64_t token = 0;
    std::int32_t status = 0; // a pmix_status_t, as everywhere here
    RunJob job;              // of the process that has accepted
    std::uint32_t rank = 0;
    std::uint64_t pair = 0;
};
struct ConnectDecision {
    std::uint64_t pair = 0;
    bool taken = false;
};
struct ConnectCancel {
    std::uint64_t token = 0; // of the ConnectRequest
    RunProcess process;
};

struct JobRequest {
    std::uint64_t token = 0;
    std::string nspace;
};
struct JobAnswer {
    std::uint64_t token = 0;
    std::optional<RunJob> job; // nothing: not known to the sender. It may be a job of a third run
};

// What a process of the receiver has published: all of it, once it contains the key.
struct ModexRequest {
    std::uint64_t token = 0;
    RunProcess process;
    std::string key;
};
struct ModexAnswer {
    std::uint64_t token = 0;
    std::int32_t status = 0;
    std::string bytes;
};

// A process joins a group whose identifier the receiver makes.
struct GroupRequest {
    std::uint64_t token = 0;
    std::string name;
    RunProcess process;
    std::vector<RunProcess> members;
};
struct GroupAnswer {
    std::uint64_t token = 0;
    std::int32_t status = 0;
    std::uint64_t id = 0;
};

// Reports about the sender's jobs, which go to all connected runs.
struct RankGone {
    RunProcess process;
    RankEnd end = RankEnd::clean;
};
struct JobGone {
    std::string nspace;
};

using RunMessage = std::variant<Hello, ConnectRequest, ConnectAnswer, ConnectDecision, ConnectCancel, JobRequest,
    JobAnswer, ModexRequest, ModexAnswer, GroupRequest, GroupAnswer, RankGone, JobGone>;

// The bytes begin with this character; questions about names (name_exchange.h) begin with others.
inline constexpr char run_message_kind = 'R';
std::string encode(const RunMessage& message);
// Nothing: the bytes are no such message.
std::optional<RunMessage> decode_run_message(std::string_view bytes);

} // namespace patchbay::launch
