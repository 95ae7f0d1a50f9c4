// SPDX-License-Identifier: BSD-3-Clause
// A process of another user that tries to connect to a job's PMIx server, for stranger_test.py:
//   stranger_program client|tool PORT NAMESPACE RANK CLAIMED_UID CLAIMED_GID
// It becomes `nobody` first, which needs root, and then claims to be another user. PMIx sends with its request what
// geteuid() and getegid() return, which are the functions of this program. It prints the status of PMIx's call.
#include <cstdio>
#include <cstdlib>
#include <grp.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <string>
#include <unistd.h>

namespace {
constexpr uid_t nobody = 65534;
uid_t claimed_user = 0;
gid_t claimed_group = 0;

bool become_nobody() {
    return ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0 &&
        ::setresuid(nobody, nobody, nobody) == 0;
}

pmix_status_t connect_as_client(const std::string& server, const char* nspace, const char* rank) {
    ::setenv("PMIX_NAMESPACE", nspace, 1);
    ::setenv("PMIX_RANK", rank, 1);
    for (const char* name :
        {"PMIX_SERVER_URI2", "PMIX_SERVER_URI21", "PMIX_SERVER_URI3", "PMIX_SERVER_URI4", "PMIX_SERVER_URI41"}) {
        ::setenv(name, server.c_str(), 1);
    }
    ::setenv("PMIX_GDS_MODULE", "hash", 1);
    pmix_proc_t self;
    return PMIx_Init(&self, nullptr, 0);
}

pmix_status_t connect_as_tool(const std::string& server, const char* nspace, const char* rank) {
    pmix_info_t infos[3];
    const pmix_rank_t number = static_cast<pmix_rank_t>(std::atoi(rank));
    PMIX_INFO_LOAD(&infos[0], PMIX_TCP_URI, server.c_str(), PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_TOOL_NSPACE, nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[2], PMIX_TOOL_RANK, &number, PMIX_PROC_RANK);
    pmix_proc_t self;
    return PMIx_tool_init(&self, infos, 3);
}

// What a tool that was let in can learn: the process sets and their members, which have the job's namespace.
void query(const char* key, const char* pset) {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, query->keys, key);
    PMIX_QUERY_QUALIFIERS_CREATE(query, 1);
    PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_PSET_NAME, pset, PMIX_STRING);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    status = PMIx_Query_info(query, 1, &results, &count);
    for (std::size_t i = 0; status == PMIX_SUCCESS && i < count; ++i) {
        if (results[i].value.type == PMIX_DATA_ARRAY) {
            std::printf("learnt %s\n", static_cast<pmix_proc_t*>(results[i].value.data.darray->array)->nspace);
        }
    }
}
} // namespace

// Visible, so that the calls of libpmix lead here.
extern "C" [[gnu::visibility("default")]] uid_t geteuid() noexcept {
    return claimed_user;
}
extern "C" [[gnu::visibility("default")]] gid_t getegid() noexcept {
    return claimed_group;
}

int main(int argc, char** argv) {
    if (argc != 7) {
        return 2;
    }
    if (!become_nobody()) {
        std::puts("cannot become nobody");
        return 3;
    }
    claimed_user = static_cast<uid_t>(std::atoi(argv[5]));
    claimed_group = static_cast<gid_t>(std::atoi(argv[6]));
    const std::string server = std::string("guess.0;tcp4://127.0.0.1:") + argv[2];
    const bool is_tool = std::string(argv[1]) == "tool";
    const pmix_status_t status =
        is_tool ? connect_as_tool(server, argv[3], argv[4]) : connect_as_client(server, argv[3], argv[4]);
    std::printf("%s\n", status == PMIX_SUCCESS ? "attached" : PMIx_Error_string(status));
    if (status == PMIX_SUCCESS && is_tool) {
        query(PMIX_QUERY_PSET_MEMBERSHIP, "all");
    }
    std::fflush(stdout);
    ::_exit(0);
}
