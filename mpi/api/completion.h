// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/args.h"
#include "object/error_cause.h"

#include <cstdint>
#include <span>
#include <string_view>

// Functions for the calls on one, any, some and all requests.
namespace patchbay::api {

// The object of an active request; nullptr: the handle is null or the request is inactive.
inline Request* active(MPI_Request handle) noexcept {
    if (reinterpret_cast<std::uintptr_t>(handle) < first_dynamic_handle) {
        return nullptr; // MPI_REQUEST_NULL, as most are at last in a loop of MPI_Waitany: no other one is predefined
    }
    Request* request = to_object<Request>(handle);
    return request->is_active() ? request : nullptr;
}

// The code of a complete request, which its status is then ready for.
inline int finish(Request& request) noexcept {
    return request.calls_back && !request.is_borrowed() ? request.finish(&request.status) : request.error;
}
// The text of its error; empty: there is none. Defined in channel.cpp, because of the requests that a bind has
// borrowed.
std::string_view cause_of(const Request& request) noexcept;

// The communicator to whose error handler an error of a call on the request is reported; nullptr: it may have been
// destroyed (Request::comm), or there is none.
inline Communicator* error_comm(const Request& request) noexcept {
    const bool exists = request.is_persistent() || !request.is_complete() || request.error != MPI_SUCCESS ||
        !request.refuses_free().empty();
    return exists ? request.comm : nullptr;
}

// The session of the requests of one call, which must be the same for all requests with a communicator.
class CommonSession {
public:
    // The fast check, which succeeds for most requests: the request is of the same session as those before.
    bool has(const Request* request) const noexcept { return request != nullptr && request->session == _session; }
    // The check for a request that is about to be started.
    bool may_start(Arguments& args, const Request& request) noexcept {
        return request.comm == nullptr || is_first(request) || is_of_other_session(args, "array_of_requests", request);
    }
    // The check for the requests that has() is false for. `request` is nullptr if the handle is null or not valid.
    // MPI_ERR_SESSION: the request is active and of another session.
    bool admits(Arguments& args, const char* name, MPI_Request handle, const Request* request) noexcept {
        if (request == nullptr) {
            return args.request_or_null(name, handle);
        }
        return !request->is_active() || request->comm == nullptr || is_first(*request) ||
            is_of_other_session(args, name, *request);
    }

private:
    bool is_first(const Request& request) noexcept {
        if (_session != this) {
            return false;
        }
        _session = request.session;
        return true;
    }
    // Reports the error; always returns false.
    bool is_of_other_session(Arguments& args, const char* name, const Request& request) const noexcept {
        return args.same_session(name, static_cast<Session*>(_session), request.session);
    }

    void* _session = this; // an address that is no session's: there was no request with a communicator yet
};

inline bool check_all(Arguments& args, const char* name, const MPI_Request* handles, int count,
    const char* count_name = "count") noexcept {
    if (!args.count(count_name, count) || !args.array(name, handles, count)) {
        return false;
    }
    CommonSession session;
    for (const MPI_Request handle : std::span(handles, std::size_t(count))) {
        if (handle == MPI_REQUEST_NULL) {
            continue; // as most are at last in a loop of MPI_Waitany
        }
        const Request* request = probed_object<Request>(handle);
        if (!session.has(request) && !session.admits(args, name, handle, request)) {
            return false;
        }
    }
    return true;
}

inline void set_empty(MPI_Status* status) noexcept {
    if (status != MPI_STATUS_IGNORE) {
        fill_empty_status(*status);
    }
}

// MPI_ERROR of the statuses of a call that returns several: it is set in all of them where an operation has failed, so
// that the call returns MPI_ERR_IN_STATUS, and in none otherwise (MPI-5.0, 3.2.5).
class StatusCodes {
public:
    explicit StatusCodes(MPI_Status* statuses) noexcept
        : _statuses(statuses) {}
    // The code of the operation whose status is the next one.
    void add(int code) noexcept {
        if (code != MPI_SUCCESS && !_failed) {
            _failed = true;
            for (std::size_t before = 0; before < _count; ++before) {
                set(before, MPI_SUCCESS);
            }
        }
        if (_failed) {
            set(_count, code);
        }
        ++_count;
    }
    bool failed() const noexcept { return _failed; }

private:
    void set(std::size_t i, int code) noexcept {
        if (_statuses != MPI_STATUSES_IGNORE) {
            _statuses[i].MPI_ERROR = code;
        }
    }

    MPI_Status* const _statuses;
    std::size_t _count = 0;
    bool _failed = false;
};

inline MPI_Status* nth(MPI_Status* statuses, std::size_t i) noexcept {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

// The first active request that is complete; `*any` says whether there was an active one.
inline int find_complete(std::span<const MPI_Request> handles, bool* any) noexcept {
    *any = false;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        Request* request = active(handles[i]);
        if (request != nullptr) {
            *any = true;
            if (request->has_completed()) {
                return int(i);
            }
        }
    }
    return MPI_UNDEFINED;
}

inline bool all_complete(std::span<const MPI_Request> handles) noexcept {
    for (MPI_Request handle : handles) {
        Request* request = active(handle);
        if (request != nullptr && !request->has_completed()) {
            return false;
        }
    }
    return true;
}

// The Progress on which to wait for these requests, of which `request_of` gives the object, or nullptr for one that is
// not waited for; nullptr: there is none. A thread that is a rank of a thread communicator may have requests of its own
// and of the process: a wait on that of the process goes on with both.
template <class RequestOf>
Progress* progress_of(std::span<const MPI_Request> handles, const RequestOf& request_of) noexcept {
    Progress* own = nullptr;
    for (MPI_Request handle : handles) {
        if (const Request* request = request_of(handle)) {
            if (!request->progress->is_beside()) [[likely]] {
                return request->progress;
            }
            own = request->progress;
        }
    }
    return own;
}

// The same for those that are active.
inline Progress* progress_of(std::span<const MPI_Request> handles) noexcept {
    return progress_of(handles, active);
}

// Checks the arguments of MPI_Waitsome and MPI_Testsome.
inline bool check_some(
    Arguments& args, const MPI_Request* array, int count, const int* outcount, const int* indices) noexcept {
    return check_all(args, "array_of_requests", array, count, "incount") && args.pointer("outcount", outcount) &&
        args.array("array_of_indices", indices, count);
}

} // namespace patchbay::api
