// SPDX-License-Identifier: BSD-3-Clause
#include "launch/messages.h"

#include "launch/archive.h"

namespace patchbay::launch {

// Not in an unnamed namespace, in which archive.h would not find them.

static void fields(auto& a, Is<Setup> auto& m) {
    each(a, m.group_prefix, m.timing);
}
static void fields(auto& a, Is<Program> auto& m) {
    each(a, m.path, m.argv, m.working_directory, m.environment);
}
static void fields(auto& a, Is<JobLayout::App> auto& m) {
    each(a, m.first_rank, m.size, m.command, m.working_directory);
}
static void fields(auto& a, Is<JobLayout::Pset> auto& m) {
    each(a, m.name, m.ranks, m.is_listed);
}
static void fields(auto& a, Is<ParentProcess> auto& m) {
    each(a, m.nspace, m.rank);
}
static void fields(auto& a, Is<JobLayout> auto& m) {
    each(a, m.nspace, m.nonce, m.hostname, m.apps, m.psets, m.ranks, m.slots, m.universe, m.first_node_rank, m.parent,
        m.parent_key);
}
static void fields(auto& a, Is<StartJob> auto& m) {
    each(a, m.job, m.layout, m.programs, m.bind_to, m.map_by);
}
static void fields(auto& a, Is<PassSignal> auto& m) {
    each(a, m.signal);
}
static void fields(auto&, Is<EndAll> auto&) {}
static void fields(auto&, Is<KillAll> auto&) {}
static void fields(auto&, Is<AnswerAborts> auto&) {}
static void fields(auto& a, Is<SpawnAnswer> auto& m) {
    each(a, m.token, m.nspace, m.error);
}
static void fields(auto& a, Is<ProcessId> auto& m) {
    each(a, m.job, m.thread, m.rank);
}
static void fields(auto& a, Is<AgentReady> auto& m) {
    each(a, m.error, m.hostname, m.cores);
}
static void fields(auto& a, Is<JobStarted> auto& m) {
    each(a, m.job);
}
static void fields(auto& a, Is<CannotStart> auto& m) {
    each(a, m.job, m.started, m.exit_status, m.text);
}
static void fields(auto& a, Is<RankConnected> auto& m) {
    each(a, m.rank);
}
static void fields(auto& a, Is<RankFinalized> auto& m) {
    each(a, m.rank);
}
static void fields(auto& a, Is<RankReady> auto& m) {
    each(a, m.rank);
}
static void fields(auto& a, Is<RankAborted> auto& m) {
    each(a, m.rank, m.status, m.message);
}
static void fields(auto& a, Is<RankEnded> auto& m) {
    each(a, m.rank, m.wait_status);
}
static void fields(auto& a, Is<NoRankLeft> auto& m) {
    each(a, m.others_left);
}
static void fields(auto& a, Is<AppSpec> auto& m) {
    each(a, m.argv, m.ranks, m.working_directory, m.search_path, m.environment, m.psets);
}
static void fields(auto& a, Is<SpawnRequest> auto& m) {
    each(a, m.token, m.parent, m.apps, m.key);
}

namespace {

template <class Message>
Result<Message> decode(std::string_view bytes) {
    if (std::optional<Message> message = decode_any<Message>(bytes)) {
        return std::move(*message);
    }
    return Error{
        Errc::invalid, "head and agent are of different versions, so that neither can read what the other one sends"};
}

} // namespace

std::string encode(const ToAgent& message) {
    return encode_any(message);
}

std::string encode(const ToHead& message) {
    return encode_any(message);
}

Result<ToAgent> decode_to_agent(std::string_view bytes) {
    return decode<ToAgent>(bytes);
}

Result<ToHead> decode_to_head(std::string_view bytes) {
    return decode<ToHead>(bytes);
}

} // namespace patchbay::launch
