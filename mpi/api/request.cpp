// SPDX-License-Identifier: BSD-3-Clause
// Inquiry, cancellation and freeing of requests (MPI-5.0, 3.7.6, 3.8.4), and generalized requests (13.2).
#include "mpi/api/completion.h"

#include "core/progress/poll_or_yield.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/library/library.h"
#include "object/generalized_request.h"

#include <new>
#include <string_view>

namespace patchbay::api {

namespace {

constexpr std::string_view bind_is_under_way =
    "the request is being bound to a channel, which cannot be cancelled: complete it first";

// Returns the status of a complete request, whose state does not change.
int show(Request& request, MPI_Status* status) noexcept {
    const int code = finish(request);
    return_status(request.status, status);
    if (code != MPI_SUCCESS) {
        note_cause(code, cause_of(request));
    }
    return code;
}

int get_status(MPI_Request handle, int* flag, MPI_Status* status) noexcept {
    Arguments args("MPI_Request_get_status", Arguments::Pending());
    // A member of a bundle has no completing call of its own, so that its last status is shown also when it is
    // inactive.
    Request* const member = bundled_request(handle);
    if (checking() &&
        !(args.permitted() && (member != nullptr || args.request_or_null("request", handle)) &&
            args.pointer("flag", flag))) {
        return args.code();
    }
    Request* request = member != nullptr ? member : active(handle);
    if (member != nullptr && !member->is_active()) {
        *flag = 1;
        if (!member->has_status) {
            set_empty(status);
            return MPI_SUCCESS;
        }
        return report_code("MPI_Request_get_status", member->comm, show(*member, status));
    }
    *flag = 1;
    if (request == nullptr) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    if (!request->has_completed()) {
        poll_or_yield(*request->progress);
    }
    if (!request->has_completed()) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return report_code("MPI_Request_get_status", request->comm, show(*request, status));
}

int get_status_all(int count, const MPI_Request* array, int* flag, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Request_get_status_all", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && check_all(args, "array_of_requests", array, count) && args.pointer("flag", flag))) {
        return args.code();
    }
    const std::span<const MPI_Request> handles(array, std::size_t(count));
    if (!all_complete(handles)) {
        poll_or_yield(*progress_of(handles));
    }
    *flag = all_complete(handles);
    if (!*flag) {
        return MPI_SUCCESS;
    }
    Communicator* comm = nullptr;
    StatusCodes codes(statuses);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request* request = active(handles[i]);
        int code = MPI_SUCCESS;
        if (request == nullptr) {
            set_empty(nth(statuses, i));
        } else {
            code = show(*request, nth(statuses, i));
        }
        if (code != MPI_SUCCESS && !codes.failed()) {
            comm = request->comm;
        }
        codes.add(code);
    }
    return codes.failed() ? report_code("MPI_Request_get_status_all", comm, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int get_status_any(int count, const MPI_Request* array, int* index, int* flag, MPI_Status* status) noexcept {
    Arguments args("MPI_Request_get_status_any", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && check_all(args, "array_of_requests", array, count) && args.pointer("indx", index) &&
            args.pointer("flag", flag))) {
        return args.code();
    }
    const std::span<const MPI_Request> handles(array, std::size_t(count));
    bool any = false;
    *index = find_complete(handles, &any);
    if (any && *index == MPI_UNDEFINED) {
        poll_or_yield(*progress_of(handles));
        *index = find_complete(handles, &any);
    }
    *flag = !any || *index != MPI_UNDEFINED;
    if (!any) {
        set_empty(status);
    }
    if (*index == MPI_UNDEFINED) {
        return MPI_SUCCESS;
    }
    Request& request = *active(array[*index]);
    return report_code("MPI_Request_get_status_any", request.comm, show(request, status));
}

int get_status_some(int count, const MPI_Request* array, int* outcount, int* indices, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Request_get_status_some", Arguments::Pending());
    if (checking() && !(args.permitted() && check_some(args, array, count, outcount, indices))) {
        return args.code();
    }
    const std::span<const MPI_Request> handles(array, std::size_t(count));
    bool any = false;
    const bool ready = find_complete(handles, &any) != MPI_UNDEFINED;
    if (!any) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!ready) {
        poll_or_yield(*progress_of(handles));
    }
    Communicator* comm = nullptr;
    StatusCodes codes(statuses);
    int found = 0;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request* request = active(handles[i]);
        if (request == nullptr || !request->has_completed()) {
            continue;
        }
        const int code = show(*request, nth(statuses, std::size_t(found)));
        if (code != MPI_SUCCESS && !codes.failed()) {
            comm = request->comm;
        }
        codes.add(code);
        indices[found++] = int(i);
    }
    *outcount = found;
    return codes.failed() ? report_code("MPI_Request_get_status_some", comm, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int cancel(MPI_Request* handle) noexcept {
    Arguments args("MPI_Cancel", Arguments::Pending());
    if (checking() && !(args.permitted() && args.pointer("request", handle) && args.request("request", *handle))) {
        return args.code();
    }
    Request* request = active(*handle);
    if (request == nullptr) {
        return MPI_SUCCESS;
    }
    if (request->is_borrowed()) {
        args.report_to(request->comm);
        return args.fail(MPI_ERR_REQUEST, bind_is_under_way);
    }
    // cancel() may complete the request, and a thread that waits for it may then release it.
    Communicator* const comm = error_comm(*request);
    return report_code("MPI_Cancel", comm, request->cancel());
}

int free_request(MPI_Request* handle) noexcept {
    Arguments args("MPI_Request_free", Arguments::Pending());
    if (checking() && !(args.permitted() && args.pointer("request", handle) && args.request("request", *handle))) {
        return args.code();
    }
    Request* request = to_object<Request>(*handle);
    const std::string_view why = request->is_borrowed() ? bind_is_under_way : request->refuses_free();
    if ((checking() || request->is_borrowed()) && !why.empty()) {
        args.report_to(request->comm);
        return args.fail(MPI_ERR_REQUEST, why);
    }
    if (request->is_persistent()) {
        note_freed(*handle);
        request->leave_list();
    }
    *handle = MPI_REQUEST_NULL;
    return args.result(request->recycle());
}

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
    MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* handle) noexcept {
    Arguments args("MPI_Grequest_start");
    if (checking() && !args.pointer("request", handle)) {
        return args.code();
    }
    int code = MPI_SUCCESS;
    Instance* instance = with_locking_chosen(args, initialized(args, &code), &code);
    if (instance == nullptr) {
        return code;
    }
    auto* made = new (std::nothrow) GeneralizedRequest(instance->progress(), query, free, cancel_fn, extra_state);
    if (made == nullptr) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory for a request");
    }
    *handle = to_handle<Request>(made);
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->add(*handle, ObjectKind::request, "MPI_Grequest_start", {});
    }
    return MPI_SUCCESS;
}

int grequest_complete(MPI_Request handle) noexcept {
    Arguments args("MPI_Grequest_complete", Arguments::Pending());
    if (checking() && !(args.permitted() && args.request("request", handle))) {
        return args.code();
    }
    auto* request = dynamic_cast<GeneralizedRequest*>(to_object<Request>(handle));
    if (request == nullptr) {
        return args.fail(MPI_ERR_REQUEST, "the request was not made by MPI_Grequest_start");
    }
    return args.result(request->mark_complete());
}

} // namespace

} // namespace patchbay::api

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    return patchbay::api::get_status(request, flag, status);
}
int PMPI_Request_get_status_all(
    int count, const MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
    return patchbay::api::get_status_all(count, array_of_requests, flag, array_of_statuses);
}
int PMPI_Request_get_status_any(
    int count, const MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
    return patchbay::api::get_status_any(count, array_of_requests, indx, flag, status);
}
int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
    int array_of_indices[], MPI_Status* array_of_statuses) {
    return patchbay::api::get_status_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
int PMPI_Cancel(MPI_Request* request) {
    return patchbay::api::cancel(request);
}
int PMPI_Request_free(MPI_Request* request) {
    return patchbay::api::free_request(request);
}
int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
    MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
    return patchbay::api::grequest_start(query_fn, free_fn, cancel_fn, extra_state, request);
}
int PMPI_Grequest_complete(MPI_Request request) {
    return patchbay::api::grequest_complete(request);
}
