// SPDX-License-Identifier: BSD-3-Clause
// Persistent channels, which are an extension: binding and unbinding of persistent requests (docs/channels.md).
#include "mpi/channels/channels.h"

#include "core/progress/waiter.h"
#include "include/mpix.h"
#include "mpi/api/completion.h"
#include "mpi/api/message_args.h"
#include "object/error_cause.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::api {

namespace {

// The arguments of one bind, whatever its form.
struct Bind {
    const char* function;
    MPI_Request* in;
    MPI_Request* out;
    int count;
    bool has_slackness; // otherwise 1 for each
    const int* slackness;
    const MPI_Info* infos; // null: MPI_INFO_NULL for each
    // The names of the arguments.
    const char* in_name;
    const char* out_name;
    const char* info_name;
};

chan::Channel* channel_of(Request& request) noexcept {
    return dynamic_cast<chan::Channel*>(&request);
}

// A handle that occurs twice in the array; MPI_REQUEST_NULL: none.
MPI_Request twice(const MPI_Request* handles, int count) {
    std::vector<MPI_Request> sorted(handles, handles + count);
    std::sort(sorted.begin(), sorted.end());
    const auto found = std::adjacent_find(sorted.begin(), sorted.end());
    return found != sorted.end() ? *found : MPI_REQUEST_NULL;
}

// An MPI code, whose error has been reported.
int check_different(Arguments& args, const char* name, const MPI_Request* handles, int count) noexcept {
    try {
        return count < 2 ||
                args.require(twice(handles, count) == MPI_REQUEST_NULL, MPI_ERR_REQUEST, name, 0,
                    "must not contain a request twice")
            ? MPI_SUCCESS
            : args.code();
    } catch (const std::bad_alloc&) {
        return args.fail(MPI_ERR_NO_MEM, "there is no memory to look at all of the requests");
    }
}

bool check_in(Arguments& args, const char* name, MPI_Request handle) noexcept {
    args.report_to(nullptr);
    if (!args.request(name, handle)) {
        return false;
    }
    Request& request = *to_object<Request>(handle);
    args.report_to(error_comm(request));
    pml::PersistentRequest bound{};
    return args.require(
               channel_of(request) == nullptr, MPI_ERR_REQUEST, name, 0, "must not be bound to a channel already") &&
        args.require(request.is_persistent() && request.most_starts == 1 && request.bound(&bound), MPI_ERR_REQUEST,
            name, 0, "must be a persistent send or receive (MPI_Send_init, MPI_Recv_init and the like)") &&
        args.require(!request.is_active(), MPI_ERR_REQUEST, name, 0, "must not be active");
}

// Reads the info keys. Returns an MPI code, whose error has been reported.
int read_info(Arguments& args, const char* name, MPI_Info handle, const Request& in, NewChannel* what) {
    if (handle == MPI_INFO_NULL) {
        return MPI_SUCCESS;
    }
    if (checking() && !args.info_or_null(name, handle)) {
        return args.code();
    }
    const Info& info = *to_object<Info>(handle);
    what->component = info.get("patchbay_chan").value_or(std::string());
    const std::string text = info.get("address_base_increment").value_or("0");
    pml::PersistentRequest bound{};
    in.bound(&bound);
    MPI_Aint elements = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, elements);
    if (problem != std::errc() || rest != end ||
        __builtin_mul_overflow(elements, bound.type->extent, &what->increment_bytes)) {
        return args.fail(MPI_ERR_INFO_VALUE,
            "info key address_base_increment has the value '" + text + "': it must be a number of elements");
    }
    return MPI_SUCCESS;
}

// An MPI code, whose error has been reported.
int check_bind(Arguments& args, const Bind& bind) noexcept {
    if (!args.permitted() || !args.count("nrequests", bind.count) || !args.array(bind.in_name, bind.in, bind.count) ||
        !args.array(bind.out_name, bind.out, bind.count) ||
        (bind.has_slackness && !args.array("slackness", bind.slackness, bind.count))) {
        return args.code();
    }
    for (int i = 0; i < bind.count; ++i) {
        if (!check_in(args, bind.in_name, bind.in[i])) {
            return args.code();
        }
        if (bind.has_slackness &&
            !args.require(bind.slackness[i] >= 1 && bind.slackness[i] <= int(chan::most_slackness), MPI_ERR_ARG,
                "slackness", bind.slackness[i], "must be from 1 to 65535")) {
            return args.code();
        }
    }
    return check_different(args, bind.in_name, bind.in, bind.count);
}

// What is to be bound. Returns an MPI code, whose error has been reported.
int read(Arguments& args, const Bind& bind, std::vector<NewChannel>* result) noexcept {
    if (const int code = checking() ? check_bind(args, bind) : MPI_SUCCESS; code != MPI_SUCCESS) {
        return code;
    }
    try {
        for (int i = 0; i < bind.count; ++i) {
            Request* const in = to_object<Request>(bind.in[i]);
            args.report_to(in->comm);
            NewChannel what{
                in, &bind.out[i], bind.has_slackness ? std::uint32_t(bind.slackness[i]) : 1, 0, {}, bind.function};
            const int code =
                bind.infos != nullptr ? read_info(args, bind.info_name, bind.infos[i], *in, &what) : MPI_SUCCESS;
            if (code != MPI_SUCCESS) {
                return code;
            }
            result->push_back(std::move(what));
        }
        return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory for the channels");
    }
}

Channels& channels_of(const Request& request) noexcept {
    return request.comm->instance->channels();
}

// Begins all of them, or none after an error.
int begin_all(Arguments& args, const std::vector<NewChannel>& all) noexcept {
    if (all.empty()) {
        return MPI_SUCCESS;
    }
    std::size_t failed = 0;
    const int code = channels_of(*all[0].in).bind(all, &failed);
    if (code != MPI_SUCCESS) {
        args.report_to(all[failed].in->comm);
    }
    return code;
}

int ibind(const Bind& bind) noexcept {
    Arguments args(bind.function, Arguments::Pending());
    std::vector<NewChannel> all;
    const int read_code = read(args, bind, &all);
    return read_code == MPI_SUCCESS ? args.result(begin_all(args, all)) : read_code;
}

// Waits for a borrowed request, which is inactive afterwards. Returns its code, with the text noted.
int wait_borrowed(Request& in) noexcept {
    wait_until(*in.progress, [&in] { return in.is_complete(); });
    const int code = in.error;
    if (code != MPI_SUCCESS) {
        note_cause(code, cause_of(in));
    }
    in.give_back();
    in.end_start();
    return code;
}

int bind(const Bind& bind) noexcept {
    Arguments args(bind.function, Arguments::Pending());
    std::vector<NewChannel> all;
    if (const int read_code = read(args, bind, &all); read_code != MPI_SUCCESS) {
        return read_code;
    }
    int code = begin_all(args, all);
    if (code != MPI_SUCCESS) {
        return args.result(code);
    }
    std::string text;
    for (const NewChannel& what : all) {
        Request& in = *what.in;
        const int of_this = wait_borrowed(in);
        if (code == MPI_SUCCESS && of_this != MPI_SUCCESS) {
            code = of_this;
            args.report_to(in.comm);
            try {
                text = noted_cause(of_this);
            } catch (const std::bad_alloc&) {
                text.clear();
            }
        }
    }
    if (code != MPI_SUCCESS && !text.empty()) {
        note_cause(code, text);
    }
    return args.result(code);
}

int bind_one(const char* function, MPI_Request in, MPI_Request* out, int slackness, MPI_Info info,
    int (*how)(const Bind&)) noexcept {
    return how({function, &in, out, 1, true, &slackness, &info, "request_in", "request_out", "info"});
}

int bind_several(const char* function, MPI_Request* ins, MPI_Request* outs, int count, const MPI_Info* infos,
    int (*how)(const Bind&)) noexcept {
    return how({function, ins, outs, count, false, nullptr, infos, "requests_in", "requests_out", "infos"});
}
int bind_several_slack(const char* function, MPI_Request* ins, MPI_Request* outs, int count, const int* slackness,
    const MPI_Info* infos, int (*how)(const Bind&)) noexcept {
    return how({function, ins, outs, count, true, slackness, infos, "requests_in", "requests_out", "infos"});
}

bool check_bound(Arguments& args, const char* name, MPI_Request handle) noexcept {
    args.report_to(nullptr);
    if (!args.request(name, handle)) {
        return false;
    }
    Request& request = *to_object<Request>(handle);
    args.report_to(error_comm(request));
    return args.require(channel_of(request) != nullptr, MPI_ERR_REQUEST, name, 0, "must be bound to a channel") &&
        args.require(!request.is_active(), MPI_ERR_REQUEST, name, 0,
            "must not be active: complete all starts before the channel is unbound or rebound");
}

// An MPI code, whose error has been reported.
int check_unbind(
    Arguments& args, const char* name, const MPI_Request* handles, int count, const MPI_Info* infos) noexcept {
    if (!args.permitted() || !args.count("nrequests", count) || !args.array(name, handles, count)) {
        return args.code();
    }
    for (int i = 0; i < count; ++i) {
        if (!check_bound(args, name, handles[i]) ||
            (infos != nullptr && !args.info_or_null(count == 1 ? "info" : "infos", infos[i]))) {
            return args.code();
        }
    }
    return check_different(args, name, handles, count);
}

// Checks the requests and begins to unbind all of them, or none after an error, which has been reported.
int begin_unbind(
    Arguments& args, const char* name, const MPI_Request* handles, int count, const MPI_Info* infos) noexcept {
    if (const int code = checking() ? check_unbind(args, name, handles, count, infos) : MPI_SUCCESS;
        code != MPI_SUCCESS || count == 0) {
        return code;
    }
    try {
        std::vector<chan::Channel*> all;
        for (int i = 0; i < count; ++i) {
            all.push_back(channel_of(*to_object<Request>(handles[i])));
        }
        std::size_t failed = 0;
        const int code = channels_of(*all[0]).unbind(all, &failed);
        args.report_to(all[code != MPI_SUCCESS ? failed : 0]->comm);
        return args.result(code);
    } catch (const std::bad_alloc&) {
        args.report_to(error_comm(*to_object<Request>(handles[0])));
        return args.fail(MPI_ERR_NO_MEM, "out of memory for the channels");
    }
}

int iunbind(
    const char* function, const char* name, const MPI_Request* handles, int count, const MPI_Info* infos) noexcept {
    Arguments args(function, Arguments::Pending());
    return begin_unbind(args, name, handles, count, infos);
}

int unbind(const char* function, const char* name, MPI_Request* handles, int count) noexcept {
    Arguments args(function, Arguments::Pending());
    int code = begin_unbind(args, name, handles, count, nullptr);
    if (code != MPI_SUCCESS) {
        return code;
    }
    Ref<Communicator> comm;
    for (int i = 0; i < count; ++i) {
        Request& request = *to_object<Request>(handles[i]);
        wait_until(*request.progress, [&request] { return request.is_complete(); });
        if (code == MPI_SUCCESS && request.error != MPI_SUCCESS) {
            code = request.error;
            comm = Ref<Communicator>::share(request.comm);
            note_cause(code, request.cause());
        }
        handles[i] = MPI_REQUEST_NULL;
        request.recycle_complete();
    }
    return comm ? report_code(function, comm.get(), code) : code;
}

int unbind_one(const char* function, MPI_Request* handle) noexcept {
    Arguments args(function, Arguments::Pending());
    if (checking() && !(args.permitted() && args.pointer("request", handle))) {
        return args.code();
    }
    return unbind(function, "request", handle, 1);
}

int rebind(MPI_Request handle, void* buf, MPI_Count count) noexcept {
    Arguments args("MPIX_Rebind_channel", Arguments::Pending());
    if (checking() && !(args.permitted() && check_bound(args, "request", handle))) {
        return args.code();
    }
    Request& request = *to_object<Request>(handle);
    chan::Channel& channel = *channel_of(request);
    const chan::Side& side = channel.binding().side;
    args.report_to(request.comm);
    if (checking() &&
        !(args.count("count", count) &&
            args.require(
                count <= side.count, MPI_ERR_COUNT, "count", count, "must not be above the count that was bound") &&
            args.buffer("buf", buf, count, to_handle<Datatype>(side.type)))) {
        return args.code();
    }
    return args.result(channel.rebind(buf, count));
}

} // namespace

std::string_view cause_of(const Request& request) noexcept {
    return request.is_borrowed() ? channels_of(request).cause_of(request) : request.cause();
}

} // namespace patchbay::api

int PMPIX_Bind_channel(MPI_Request request_in, MPI_Request* request_out, MPI_Info info) {
    return patchbay::api::bind_one("MPIX_Bind_channel", request_in, request_out, 1, info, patchbay::api::bind);
}
int PMPIX_Ibind_channel(MPI_Request request_in, MPI_Request* request_out, MPI_Info info) {
    return patchbay::api::bind_one("MPIX_Ibind_channel", request_in, request_out, 1, info, patchbay::api::ibind);
}
int PMPIX_Bind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]) {
    return patchbay::api::bind_several(
        "MPIX_Bind_channels", requests_in, requests_out, nrequests, infos, patchbay::api::bind);
}
int PMPIX_Ibind_channels(MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, MPI_Info infos[]) {
    return patchbay::api::bind_several(
        "MPIX_Ibind_channels", requests_in, requests_out, nrequests, infos, patchbay::api::ibind);
}
int PMPIX_Bind_slack_channel(MPI_Request request_in, MPI_Request* request_out, int slackness, MPI_Info info) {
    return patchbay::api::bind_one(
        "MPIX_Bind_slack_channel", request_in, request_out, slackness, info, patchbay::api::bind);
}
int PMPIX_Ibind_slack_channel(MPI_Request request_in, MPI_Request* request_out, int slackness, MPI_Info info) {
    return patchbay::api::bind_one(
        "MPIX_Ibind_slack_channel", request_in, request_out, slackness, info, patchbay::api::ibind);
}
int PMPIX_Bind_slack_channels(
    MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[], MPI_Info infos[]) {
    return patchbay::api::bind_several_slack(
        "MPIX_Bind_slack_channels", requests_in, requests_out, nrequests, slackness, infos, patchbay::api::bind);
}
int PMPIX_Ibind_slack_channels(
    MPI_Request requests_in[], MPI_Request requests_out[], int nrequests, int slackness[], MPI_Info infos[]) {
    return patchbay::api::bind_several_slack(
        "MPIX_Ibind_slack_channels", requests_in, requests_out, nrequests, slackness, infos, patchbay::api::ibind);
}
int PMPIX_Unbind_channel(MPI_Request* request) {
    return patchbay::api::unbind_one("MPIX_Unbind_channel", request);
}
int PMPIX_Unbind_channels(MPI_Request requests[], int nrequests) {
    return patchbay::api::unbind("MPIX_Unbind_channels", "requests", requests, nrequests);
}
int PMPIX_Iunbind_channel(MPI_Request request, MPI_Info info) {
    return patchbay::api::iunbind("MPIX_Iunbind_channel", "request", &request, 1, &info);
}
int PMPIX_Iunbind_channels(MPI_Request requests[], int nrequests, MPI_Info infos[]) {
    return patchbay::api::iunbind("MPIX_Iunbind_channels", "requests", requests, nrequests, infos);
}
int PMPIX_Rebind_channel(MPI_Request request, void* buf, MPI_Count count) {
    return patchbay::api::rebind(request, buf, count);
}
