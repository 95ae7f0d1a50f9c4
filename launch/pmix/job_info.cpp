// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix/job_info.h"

#include "core/runtime/job_protocol.h"

#include <cstdlib>
#include <pmix_server.h>

namespace patchbay::launch {

namespace {

std::string all_ranks(int ranks) {
    std::string text;
    for (int rank = 0; rank < ranks; ++rank) {
        text += (rank == 0 ? "" : ",") + std::to_string(rank);
    }
    return text;
}

void add_maps(const JobLayout& layout, const std::string& ranks, InfoList& infos) {
    char* nodes = nullptr;
    char* procs = nullptr;
    PMIx_generate_regex(layout.hostname.c_str(), &nodes);
    PMIx_generate_ppn(ranks.c_str(), &procs);
    infos.add_regex(PMIX_NODE_MAP, nodes);
    infos.add_regex(PMIX_PROC_MAP, procs);
    std::free(nodes);
    std::free(procs);
}

InfoList node_info(const JobLayout& layout, const std::string& ranks) {
    InfoList node;
    node.add_string(PMIX_HOSTNAME, layout.hostname);
    node.add_u32(PMIX_NODEID, 0);
    node.add_u32(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(layout.ranks));
    node.add_u32(PMIX_NODE_SIZE, static_cast<std::uint32_t>(layout.ranks));
    node.add_rank(PMIX_LOCALLDR, 0);
    node.add_string(PMIX_LOCAL_PEERS, ranks);
    return node;
}

InfoList app_info(const JobLayout::App& app, std::uint32_t number) {
    InfoList info;
    info.add_u32(PMIX_APPNUM, number);
    info.add_u32(PMIX_APP_SIZE, static_cast<std::uint32_t>(app.size));
    info.add_rank(PMIX_APPLDR, static_cast<pmix_rank_t>(app.first_rank));
    info.add_string(PMIX_APP_ARGV, app.command);
    info.add_string(PMIX_WDIR, app.working_directory);
    return info;
}

InfoList proc_info(const JobLayout& layout, int rank) {
    int app = layout.app_of(rank);
    InfoList info;
    info.add_rank(PMIX_RANK, static_cast<pmix_rank_t>(rank)); // must be the first
    info.add_rank(PMIX_GLOBAL_RANK, static_cast<pmix_rank_t>(rank));
    info.add_rank(PMIX_APP_RANK, static_cast<pmix_rank_t>(rank - layout.apps[app].first_rank));
    info.add_u32(PMIX_APPNUM, static_cast<std::uint32_t>(app));
    info.add_u16(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(rank));
    info.add_u16(PMIX_NODE_RANK, static_cast<std::uint16_t>(layout.first_node_rank + rank));
    info.add_u32(PMIX_NODEID, 0);
    info.add_string(PMIX_HOSTNAME, layout.hostname);
    info.add_u32(PMIX_REINCARNATION, 0);
    if (layout.parent) {
        info.add_proc(PMIX_PARENT_ID, make_proc(layout.parent->nspace, layout.parent->rank));
    }
    return info;
}

// What local and foreign jobs have in common.
InfoList common_info(const JobLayout& layout, std::uint32_t run_number) {
    const std::uint32_t size = static_cast<std::uint32_t>(layout.ranks);
    InfoList infos;
    infos.add_string(PMIX_JOBID, layout.nspace);
    infos.add_u32(PMIX_UNIV_SIZE, static_cast<std::uint32_t>(layout.universe));
    infos.add_u32(PMIX_JOB_SIZE, size);
    infos.add_u32(PMIX_MAX_PROCS, size);
    infos.add_u32(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(layout.apps.size()));
    infos.add_u32(PMIX_NUM_NODES, 1);
    infos.add_u64(job_nonce_key, layout.nonce);
    infos.add_u32(job_run_key, run_number);
    for (std::size_t app = 0; app < layout.apps.size(); ++app) {
        infos.add_list(PMIX_APP_INFO_ARRAY, app_info(layout.apps[app], static_cast<std::uint32_t>(app)));
    }
    for (int rank = 0; rank < layout.ranks; ++rank) {
        infos.add_list(PMIX_PROC_INFO_ARRAY, proc_info(layout, rank));
    }
    return infos;
}

} // namespace

InfoList job_info(const JobLayout& layout, std::uint32_t run_number) {
    const std::string ranks = all_ranks(layout.ranks);
    InfoList infos = common_info(layout, run_number);
    add_maps(layout, ranks, infos);
    infos.add_list(PMIX_NODE_INFO_ARRAY, node_info(layout, ranks));
    return infos;
}

// Without maps and information about the node, from which PMIx would conclude that the processes are local.
InfoList foreign_job_info(const JobLayout& layout, std::uint32_t run_number) {
    return common_info(layout, run_number);
}

} // namespace patchbay::launch
