// SPDX-License-Identifier: BSD-3-Clause
#include "core/runtime/dynamic_protocol.h"
#include "core/runtime/group_protocol.h"
#include "core/runtime/job_protocol.h"
#include "core/runtime/pset_protocol.h"
#include "tests/launch/rank_program.h"

#include <cstring>
#include <future>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace rank_program {

void publish(const std::string& name) {
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, name.c_str(), "here I am", PMIX_STRING);
    expect("PMIx_Publish", PMIx_Publish(&info, 1));
    expect("PMIx_Publish again", PMIx_Publish(&info, 1), PMIX_ERR_DUPLICATE_KEY);
}

void unpublish(const std::string& name) {
    char* keys[] = {const_cast<char*>(name.c_str()), nullptr};
    expect("PMIx_Unpublish", PMIx_Unpublish(keys, nullptr, 0));
    expect("PMIx_Unpublish again", PMIx_Unpublish(keys, nullptr, 0), PMIX_ERR_NOT_FOUND);
}

// PMIx carries texts that are null pointers.
void send_null_texts(const std::string&) {
    pmix_info_t infos[2];
    PMIX_INFO_CONSTRUCT(&infos[0]);
    infos[0].value.type = PMIX_STRING;
    PMIX_LOAD_KEY(infos[0].key, "name");
    pmix_data_range_t everywhere = PMIX_RANGE_GLOBAL;
    PMIX_INFO_LOAD(&infos[1], PMIX_RANGE, &everywhere, PMIX_DATA_RANGE);
    expect("PMIx_Publish", PMIx_Publish(infos, 2), PMIX_ERR_NOT_SUPPORTED);
    expect("PMIx_Publish in this job", PMIx_Publish(infos, 1));
    for (const char* key : {patchbay::group_key, patchbay::pset_define_key, patchbay::job_find_key}) {
        PMIX_LOAD_KEY(infos[0].key, key);
        expect(key, PMIx_Job_control(nullptr, 0, infos, 1, nullptr, nullptr), PMIX_ERR_NOT_SUPPORTED);
    }
    PMIX_LOAD_KEY(infos[0].key, patchbay::port_close_key);
    expect(infos[0].key, PMIx_Job_control(nullptr, 0, infos, 1, nullptr, nullptr), PMIX_ERR_NOT_FOUND);
}

void look_up_published(const std::string& name) {
    pmix_info_t wait;
    bool yes = true;
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &yes, PMIX_BOOL);
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name.c_str());
    expect("PMIx_Lookup", PMIx_Lookup(&data, 1, &wait, 1));
    std::printf("rank %u found %s of rank %u\n", self.rank, data.value.data.string, data.proc.rank);
    std::fflush(stdout);
    PMIX_PDATA_DESTRUCT(&data);
}

void miss_published(const std::string& name) {
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name.c_str());
    expect("PMIx_Lookup", PMIx_Lookup(&data, 1, nullptr, 0), PMIX_ERR_NOT_FOUND);
}

namespace {

// A request for one of mpirun's own groups, and its infos, which PMIx uses until the reply has come.
class GroupRequest {
public:
    GroupRequest(const std::string& name, const std::vector<pmix_proc_t>& members)
        : _name(name) {
        PMIX_INFO_LOAD(&_infos[0], patchbay::group_key, name.c_str(), PMIX_STRING);
        PMIX_INFO_CONSTRUCT(&_infos[1]);
        PMIX_LOAD_KEY(_infos[1].key, patchbay::group_members_key);
        _infos[1].value.type = PMIX_DATA_ARRAY;
        PMIX_DATA_ARRAY_CREATE(_infos[1].value.data.darray, members.size(), PMIX_PROC);
        std::memcpy(_infos[1].value.data.darray->array, members.data(), members.size() * sizeof(pmix_proc_t));
        expect("PMIx_Job_control_nb", PMIx_Job_control_nb(nullptr, 0, _infos, 2, replied, this));
    }
    ~GroupRequest() {
        PMIX_INFO_DESTRUCT(&_infos[0]);
        PMIX_INFO_DESTRUCT(&_infos[1]);
    }

    const std::string& name() const { return _name; }

    // Waits for the reply; the identifier of the group goes to `id`.
    pmix_status_t wait(std::size_t& id) {
        const auto [status, found] = _reply.get_future().get();
        id = found;
        return status;
    }

private:
    static void replied(pmix_status_t status, pmix_info_t* infos, std::size_t count, void* request,
        pmix_release_cbfunc_t release, void* release_data) {
        if (status == PMIX_SUCCESS && (count != 1 || !PMIX_CHECK_KEY(&infos[0], PMIX_GROUP_CONTEXT_ID))) {
            give_up("PMIx_Job_control_nb", "returned another result");
        }
        const std::size_t id = status == PMIX_SUCCESS ? infos[0].value.data.size : 0;
        if (release != nullptr) {
            release(release_data);
        }
        static_cast<GroupRequest*>(request)->_reply.set_value({status, id});
    }

    std::string _name;
    pmix_info_t _infos[2];
    std::promise<std::pair<pmix_status_t, std::size_t>> _reply;
};

std::unique_ptr<GroupRequest> begun_group;

} // namespace

// "NAME:RANK,RANK,..." by mpirun's own groups. Returns when the request has been sent.
void begin_group(const std::string& text) {
    const std::string name = text.substr(0, text.find(':'));
    std::vector<pmix_proc_t> members;
    for (const char* number = text.c_str() + name.size(); *number != '\0';) {
        pmix_proc_t member = self;
        char* end = nullptr;
        member.rank = static_cast<pmix_rank_t>(std::strtoul(number + 1, &end, 10));
        members.push_back(member);
        number = end;
    }
    begun_group = std::make_unique<GroupRequest>(name, members);
}

// Waits for the reply to begin_group(); prints the identifier, or the error.
void end_group(const std::string&) {
    std::size_t id = 0;
    const pmix_status_t status = begun_group->wait(id);
    if (status == PMIX_SUCCESS) {
        std::printf("group %s id %zu\n", begun_group->name().c_str(), id);
    } else {
        std::printf("group %s %s\n", begun_group->name().c_str(), PMIx_Error_string(status));
    }
    std::fflush(stdout);
    begun_group.reset();
}

void host_group(const std::string& text) {
    begin_group(text);
    end_group("");
}

void pmix_group(const std::string& name) {
    pmix_proc_t all = everyone();
    pmix_info_t wants_id;
    bool yes = true;
    PMIX_INFO_LOAD(&wants_id, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    expect("PMIx_Group_construct", PMIx_Group_construct(name.c_str(), &all, 1, &wants_id, 1, &results, &count));
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID)) {
            std::printf("pmix group %s id %zu\n", name.c_str(), results[i].value.data.size);
        }
    }
    std::fflush(stdout);
    expect("PMIx_Group_destruct", PMIx_Group_destruct(name.c_str(), nullptr, 0));
}

void exchange(const std::string&) {
    pmix_value_t mine;
    std::uint32_t number = 100 + self.rank;
    PMIX_VALUE_LOAD(&mine, &number, PMIX_UINT32);
    expect("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "test.number", &mine));
    expect("PMIx_Commit", PMIx_Commit());
    fence("");
    std::uint32_t size = look_up(everyone(), PMIX_JOB_SIZE);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        pmix_proc_t peer = self;
        peer.rank = rank;
        if (look_up(peer, "test.number") != 100 + rank) {
            give_up("exchange", "a wrong number came");
        }
    }
    print("exchange ok");
}

std::pair<std::size_t, std::string> request_psets() {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    pmix_status_t status = PMIX_SUCCESS;
    for (const char* key : {PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES}) {
        PMIX_ARGV_APPEND(status, query->keys, key);
        expect("PMIX_ARGV_APPEND", status);
    }
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    expect("PMIx_Query_info", PMIx_Query_info(query, 1, &results, &count));
    if (count != 2) {
        give_up("PMIx_Query_info", "returned another result");
    }
    const std::pair<std::size_t, std::string> result(results[0].value.data.size, results[1].value.data.string);
    PMIX_QUERY_FREE(query, 1);
    PMIX_INFO_FREE(results, count);
    return result;
}

// A rank that registers for new process sets is sent an event for each that exists already. Replies to its requests go
// out to the same rank at the same time.
void request_amid_events(const std::string& times) {
    auto ignore = [](std::size_t, pmix_status_t, const pmix_proc_t*, pmix_info_t*, std::size_t, pmix_info_t*,
                      std::size_t, pmix_event_notification_cbfunc_fn_t done,
                      void* context) { done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, context); };
    for (int fd = 3; fd < 64; ++fd) { // the socket to the server is among them; without TCP_NODELAY a round takes 80 ms
        const int on = 1;
        (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    const std::string own = "alone." + std::to_string(self.rank);
    for (int round = 0; round < std::atoi(times.c_str()); ++round) {
        pmix_status_t code = PMIX_PROCESS_SET_DEFINE;
        const pmix_status_t handler = PMIx_Register_event_handler(&code, 1, nullptr, 0, ignore, nullptr, nullptr);
        if (handler < 0) {
            give_up("PMIx_Register_event_handler", PMIx_Error_string(handler));
        }
        std::size_t id = 0;
        request_psets();
        expect("PMIx_Job_control_nb", GroupRequest(own, {self}).wait(id));
        pmix_info_t info;
        PMIX_INFO_LOAD(&info, own.c_str(), "x", PMIX_STRING);
        expect("PMIx_Publish", PMIx_Publish(&info, 1));
        PMIX_INFO_DESTRUCT(&info);
        char* keys[] = {const_cast<char*>(own.c_str()), nullptr};
        expect("PMIx_Unpublish", PMIx_Unpublish(keys, nullptr, 0));
        expect("PMIx_Deregister_event_handler", PMIx_Deregister_event_handler(std::size_t(handler), nullptr, nullptr));
    }
    print("requested");
}

pmix_status_t spawn(const std::string& program, int ranks, const std::string& commands) {
    pmix_app_t* app = nullptr;
    PMIX_APP_CREATE(app, 1);
    app->cmd = ::strdup(program.c_str());
    app->maxprocs = ranks;
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, app->argv, program.c_str());
    for (std::size_t begin = 0, end = 0; end != std::string::npos && status == PMIX_SUCCESS; begin = end + 1) {
        end = commands.find(' ', begin);
        PMIX_ARGV_APPEND(status, app->argv, commands.substr(begin, end - begin).c_str());
    }
    char nspace[PMIX_MAX_NSLEN + 1] = {};
    if (status == PMIX_SUCCESS) {
        status = PMIx_Spawn(nullptr, 0, app, 1, nspace);
    }
    PMIX_APP_FREE(app, 1);
    return status;
}

// "RANKS:COMMAND COMMAND...": starts another job of this program.
void spawn_job(const std::string& text) {
    char self[4096] = {};
    const std::size_t colon = text.find(':');
    if (::readlink("/proc/self/exe", self, sizeof self - 1) <= 0 || colon == std::string::npos) {
        give_up("spawn", "needs RANKS:COMMANDS");
    }
    expect("PMIx_Spawn", spawn(self, std::atoi(text.c_str()), text.substr(colon + 1)));
    print("spawned");
}

void spawn_missing(const std::string& program) {
    expect("PMIx_Spawn", spawn(program, 1, "x"), PMIX_ERR_JOB_FAILED_TO_LAUNCH);
}

// The number and the names of the process sets.
void query_psets(const std::string&) {
    const auto [number, names] = request_psets();
    std::printf("psets %zu: %s\n", number, names.c_str());
    std::fflush(stdout);
}

void query_pset(const std::string& name) {
    pmix_query_t* query = nullptr;
    PMIX_QUERY_CREATE(query, 1);
    pmix_status_t status = PMIX_SUCCESS;
    PMIX_ARGV_APPEND(status, query->keys, PMIX_QUERY_PSET_MEMBERSHIP);
    expect("PMIX_ARGV_APPEND", status);
    PMIX_QUERY_QUALIFIERS_CREATE(query, 1);
    PMIX_INFO_LOAD(&query->qualifiers[0], PMIX_PSET_NAME, name.c_str(), PMIX_STRING);
    pmix_info_t* results = nullptr;
    std::size_t count = 0;
    status = PMIx_Query_info(query, 1, &results, &count);
    std::string text = status == PMIX_SUCCESS ? "" : std::string(" ") + PMIx_Error_string(status);
    for (std::size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_QUERY_PSET_MEMBERSHIP)) {
            const auto* members = static_cast<pmix_proc_t*>(results[i].value.data.darray->array);
            for (std::size_t member = 0; member < results[i].value.data.darray->size; ++member) {
                text += " " + std::to_string(members[member].rank);
            }
        }
    }
    print("pset " + name + text);
}

} // namespace rank_program
