// SPDX-License-Identifier: BSD-3-Clause
// Waiting for requests and testing them (MPI-5.0, 3.7.3 and 3.7.5).
#include "mpi/api/completion.h"

#include "core/progress/poll_or_yield.h"
#include "core/progress/waiter.h"

#include <algorithm>

namespace patchbay::api {

namespace {

using Handles = std::span<MPI_Request>;

// Looks this often at a request that checks itself between two rounds of progress: a look takes much less time, and its
// message does not need the progress.
constexpr int checks_per_poll = 8;

void wait_for_request(Request& request, Progress& progress) noexcept {
    if (!request.checks_itself) {
        wait_until(progress, [&request] { return request.is_complete(); });
        return;
    }
    const int checks = progress.policy().spin.count() == 0 ? 1 : checks_per_poll;
    wait_until(progress, [&request, checks] {
        for (int i = 0; i < checks; ++i) {
            if (request.has_completed()) {
                return true;
            }
        }
        return false;
    });
}

// Completes an operation for the program: sets its status and handle, and returns its code. After an error, *comm gets
// a reference to the communicator for the report, unless `comm` is null. The free callback of a generalized request
// runs last; if it fails, its code is returned (MPI-5.0, 13.2).
int complete_request(MPI_Request* handle, Request& request, MPI_Status* status, Ref<Communicator>* comm) noexcept {
    int code = finish(request);
    return_status(request.status, status);
    if (code != MPI_SUCCESS && comm != nullptr && !*comm) {
        *comm = Ref<Communicator>::share(request.comm);
        note_cause(code, cause_of(request));
    }
    if (request.is_borrowed()) [[unlikely]] {
        request.give_back();
    }
    if (request.is_persistent()) {
        request.end_start();
    } else {
        *handle = MPI_REQUEST_NULL;
        if (const int of_callback = request.recycle(); of_callback != MPI_SUCCESS) {
            code = of_callback;
        }
    }
    return code;
}

[[gnu::noinline]] int wait_in_full(MPI_Request* handle, MPI_Status* status) noexcept {
    Arguments args("MPI_Wait", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && args.pointer("request", handle) && args.request_or_null("request", *handle))) {
        return args.code();
    }
    Request* request = active(*handle);
    if (request == nullptr) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    wait_for_request(*request, *request->progress);
    Ref<Communicator> comm;
    const int code = complete_request(handle, *request, status, &comm);
    return report_code("MPI_Wait", comm.get(), code);
}

// Ends a request that is complete and plain.
inline int end_plainly(MPI_Request* handle, Request* request, MPI_Status* status) noexcept {
    return_status(request->status, status);
    if (request->is_persistent()) {
        request->end_start();
    } else {
        *handle = MPI_REQUEST_NULL;
        request->recycle_complete();
    }
    return MPI_SUCCESS;
}

// A request that only its own check() completes waits for one message, and for nothing else that a check of arguments
// would take longer than.
[[gnu::noinline]] int wait_checking(MPI_Request* handle, Request* request, MPI_Status* status) noexcept {
    wait_for_request(*request, *request->progress);
    return request->is_plain() ? end_plainly(handle, request, status) : wait_in_full(handle, status);
}

// A request that is complete without an error, as most are, needs little.
int wait_one(MPI_Request* handle, MPI_Status* status) noexcept {
    Request* request = handle != nullptr ? probed_object<Request>(*handle) : nullptr;
    if (request == nullptr || !thread_is_known() || !request->is_complete() || !request->is_plain()) [[unlikely]] {
        if (thread_is_known() && request != nullptr && request->checks_itself && request->is_active()) {
            return wait_checking(handle, request, status);
        }
        return wait_in_full(handle, status);
    }
    return end_plainly(handle, request, status);
}

[[gnu::noinline]] int test_in_full(MPI_Request* handle, int* flag, MPI_Status* status) noexcept {
    Arguments args("MPI_Test", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && args.pointer("request", handle) && args.pointer("flag", flag) &&
            args.request_or_null("request", *handle))) {
        return args.code();
    }
    Request* request = active(*handle);
    *flag = 1;
    if (request == nullptr) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    if (!request->has_completed()) {
        poll_or_yield(*request->progress);
        if (!request->has_completed()) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    Ref<Communicator> comm;
    const int code = complete_request(handle, *request, status, &comm);
    return report_code("MPI_Test", comm.get(), code);
}

// As MPI_Wait: a request that is complete without an error needs little.
int test_one(MPI_Request* handle, int* flag, MPI_Status* status) noexcept {
    Request* request = handle != nullptr ? probed_object<Request>(*handle) : nullptr;
    if (request == nullptr || !thread_is_known() || flag == nullptr || !request->is_active() ||
        !request->has_completed() || !request->is_plain()) [[unlikely]] {
        return test_in_full(handle, flag, status);
    }
    *flag = 1;
    return end_plainly(handle, request, status);
}

// Completes requests of which all are null, inactive or complete. One with several starts may be there several times:
// `waits_again` waits for the start that is the oldest one then.
template <class WaitsAgain>
int complete_all(const char* function, Handles handles, MPI_Status* statuses, const WaitsAgain& waits_again) noexcept {
    Ref<Communicator> comm;
    StatusCodes codes(statuses);
    for (std::size_t i = 0; i < handles.size(); ++i) {
        if (Request* request = active(handles[i])) {
            if (request->most_starts != 1) [[unlikely]] {
                waits_again(*request);
            }
            codes.add(complete_request(&handles[i], *request, nth(statuses, i), &comm));
        } else {
            set_empty(nth(statuses, i));
            codes.add(MPI_SUCCESS);
        }
    }
    return codes.failed() ? report_code(function, comm.get(), MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int wait_all(int count, MPI_Request* array, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Waitall", Arguments::Pending());
    if (checking() && !(args.permitted() && check_all(args, "array_of_requests", array, count))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    Progress* const progress = progress_of(handles);
    for (MPI_Request handle : handles) {
        if (Request* request = active(handle)) {
            wait_for_request(*request, *progress);
        }
    }
    return complete_all("MPI_Waitall", handles, statuses, [&](Request& again) { wait_for_request(again, *progress); });
}

// A request with several starts tells only whether the oldest of them is complete.
bool check_each_once(Arguments& args, const MPI_Request* array, int count) noexcept {
    for (int i = 0; i < count; ++i) {
        const Request* request = active(array[i]);
        if (request != nullptr && request->most_starts != 1 &&
            !args.require(std::find(array + i + 1, array + count, array[i]) == array + count, MPI_ERR_REQUEST,
                "array_of_requests", i, "must not be there twice: MPI_Testall tests one start of a request")) {
            return false;
        }
    }
    return true;
}

int test_all(int count, MPI_Request* array, int* flag, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Testall", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && check_all(args, "array_of_requests", array, count) && args.pointer("flag", flag) &&
            check_each_once(args, array, count))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    if (!all_complete(handles)) {
        poll_or_yield(*progress_of(handles));
        if (!all_complete(handles)) {
            *flag = 0;
            return MPI_SUCCESS;
        }
    }
    *flag = 1;
    return complete_all("MPI_Testall", handles, statuses, [](const Request&) {}); // each of them once
}

int wait_any(int count, MPI_Request* array, int* index, MPI_Status* status) noexcept {
    Arguments args("MPI_Waitany", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && check_all(args, "array_of_requests", array, count) && args.pointer("indx", index))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    bool any = false;
    *index = find_complete(handles, &any);
    if (!any) {
        set_empty(status);
        return MPI_SUCCESS;
    }
    if (*index == MPI_UNDEFINED) {
        wait_until(*progress_of(handles), [&] {
            *index = find_complete(handles, &any);
            return *index != MPI_UNDEFINED;
        });
    }
    Ref<Communicator> comm;
    MPI_Request* handle = &array[*index];
    const int code = complete_request(handle, *active(*handle), status, &comm);
    return report_code("MPI_Waitany", comm.get(), code);
}

int test_any(int count, MPI_Request* array, int* index, int* flag, MPI_Status* status) noexcept {
    Arguments args("MPI_Testany", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && check_all(args, "array_of_requests", array, count) && args.pointer("indx", index) &&
            args.pointer("flag", flag))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    bool any = false;
    *index = find_complete(handles, &any);
    if (any && *index == MPI_UNDEFINED) {
        poll_or_yield(*progress_of(handles));
        *index = find_complete(handles, &any);
    }
    *flag = !any || *index != MPI_UNDEFINED;
    if (*index == MPI_UNDEFINED) {
        if (*flag) {
            set_empty(status);
        }
        return MPI_SUCCESS;
    }
    Ref<Communicator> comm;
    MPI_Request* handle = &array[*index];
    const int code = complete_request(handle, *active(*handle), status, &comm);
    return report_code("MPI_Testany", comm.get(), code);
}

// Completes those of `handles` whose operations are complete, in their order.
int complete_some(const char* function, Handles handles, int* outcount, int* indices, MPI_Status* statuses) noexcept {
    Ref<Communicator> comm;
    StatusCodes codes(statuses);
    int found = 0;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request* request = active(handles[i]);
        if (request == nullptr || !request->has_completed()) {
            continue;
        }
        codes.add(complete_request(&handles[i], *request, nth(statuses, std::size_t(found)), &comm));
        indices[found++] = int(i);
    }
    *outcount = found;
    return codes.failed() ? report_code(function, comm.get(), MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int wait_some(int count, MPI_Request* array, int* outcount, int* indices, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Waitsome", Arguments::Pending());
    if (checking() && !(args.permitted() && check_some(args, array, count, outcount, indices))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    bool any = false;
    const bool ready = find_complete(handles, &any) != MPI_UNDEFINED;
    if (!any) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!ready) {
        wait_until(*progress_of(handles), [&] { return find_complete(handles, &any) != MPI_UNDEFINED; });
    }
    return complete_some("MPI_Waitsome", handles, outcount, indices, statuses);
}

int test_some(int count, MPI_Request* array, int* outcount, int* indices, MPI_Status* statuses) noexcept {
    Arguments args("MPI_Testsome", Arguments::Pending());
    if (checking() && !(args.permitted() && check_some(args, array, count, outcount, indices))) {
        return args.code();
    }
    const Handles handles(array, std::size_t(count));
    bool any = false;
    const bool ready = find_complete(handles, &any) != MPI_UNDEFINED;
    if (!any) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (!ready) {
        poll_or_yield(*progress_of(handles));
    }
    return complete_some("MPI_Testsome", handles, outcount, indices, statuses);
}

} // namespace

} // namespace patchbay::api

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
    return patchbay::api::wait_one(request, status);
}
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    return patchbay::api::test_one(request, flag, status);
}
int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
    return patchbay::api::wait_all(count, array_of_requests, array_of_statuses);
}
int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status* array_of_statuses) {
    return patchbay::api::test_all(count, array_of_requests, flag, array_of_statuses);
}
int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
    return patchbay::api::wait_any(count, array_of_requests, indx, status);
}
int PMPI_Testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
    return patchbay::api::test_any(count, array_of_requests, indx, flag, status);
}
int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
    MPI_Status* array_of_statuses) {
    return patchbay::api::wait_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
    MPI_Status* array_of_statuses) {
    return patchbay::api::test_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
