// SPDX-License-Identifier: BSD-3-Clause
#include "launch/run_messages.h"

#include "launch/archive.h"

namespace patchbay::launch {

// Not in an unnamed namespace, in which archive.h would not find them.

static void fields(auto& a, Is<RunJob::Gone> auto& m) {
    each(a, m.rank, m.end);
}
static void fields(auto& a, Is<RunJob> auto& m) {
    each(a, m.run, m.run_number, m.nspace, m.nonce, m.hostname, m.ranks, m.universe, m.app_sizes, m.gone);
}
static void fields(auto& a, Is<RunProcess> auto& m) {
    each(a, m.nspace, m.rank);
}
static void fields(auto& a, Is<Hello> auto& m) {
    each(a, m.run, m.prefix);
}
static void fields(auto& a, Is<ConnectRequest> auto& m) {
    each(a, m.token, m.port, m.limit_milliseconds, m.job, m.rank);
}
static void fields(auto& a, Is<ConnectAnswer> auto& m) {
    each(a, m.token, m.status, m.job, m.rank, m.pair);
}
static void fields(auto& a, Is<ConnectDecision> auto& m) {
    each(a, m.pair, m.taken);
}
static void fields(auto& a, Is<ConnectCancel> auto& m) {
    each(a, m.token, m.process);
}
static void fields(auto& a, Is<JobRequest> auto& m) {
    each(a, m.token, m.nspace);
}
static void fields(auto& a, Is<JobAnswer> auto& m) {
    each(a, m.token, m.job);
}
static void fields(auto& a, Is<ModexRequest> auto& m) {
    each(a, m.token, m.process, m.key);
}
static void fields(auto& a, Is<ModexAnswer> auto& m) {
    each(a, m.token, m.status, m.bytes);
}
static void fields(auto& a, Is<GroupRequest> auto& m) {
    each(a, m.token, m.name, m.process, m.members);
}
static void fields(auto& a, Is<GroupAnswer> auto& m) {
    each(a, m.token, m.status, m.id);
}
static void fields(auto& a, Is<RankGone> auto& m) {
    each(a, m.process, m.end);
}
static void fields(auto& a, Is<JobGone> auto& m) {
    each(a, m.nspace);
}

std::string encode(const RunMessage& message) {
    return run_message_kind + encode_any(message);
}

std::optional<RunMessage> decode_run_message(std::string_view bytes) {
    return bytes.starts_with(run_message_kind) ? decode_any<RunMessage>(bytes.substr(1)) : std::nullopt;
}

} // namespace patchbay::launch
