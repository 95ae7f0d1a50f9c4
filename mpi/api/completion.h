// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mpi/api/args.h"
#include "object/error_cause.h"

#include <span>

// What the calls on one, any, some and all requests have in common.
namespace patchbay::api {

// The object of a handle that there is something to wait for; nullptr: null or inactive.
inline Request* active(MPI_Request handle) noexcept {
    Request* request = to_object<Request>(handle);
    return request != nullptr && request->is_active() ? request : nullptr;
}

// The session of all requests of one call that have a communicator: that of the first of them, or the world model.
class CommonSession {
public:
    // What most requests are: valid, and of the same session as the one before.
    bool has(const Request* request) const noexcept { return request != nullptr && request->session == _session; }
    // The same of one that is not active yet.
    bool may_start(Arguments& args, const Request& request) noexcept {
        return request.comm == nullptr || is_first(request) || mixes(args, "array_of_requests", request);
    }
    // All others. `request`: nullptr for a handle that is null or none. MPI_ERR_SESSION for one of another session,
    // when it is active.
    bool admits(Arguments& args, const char* name, MPI_Request handle, const Request* request) noexcept {
        if (request == nullptr) {
            return args.request_or_null(name, handle);
        }
        return !request->is_active() || request->comm == nullptr || is_first(*request) || mixes(args, name, *request);
    }

private:
    bool is_first(const Request& request) noexcept {
        if (_session != this) {
            return false;
        }
        _session = request.session;
        return true;
    }
    // Reports it; never true.
    bool mixes(Arguments& args, const char* name, const Request& request) const noexcept {
        return args.same_session(name, static_cast<Session*>(_session), request.session);
    }

    void* _session = this; // not known yet: no session's address
};

inline bool check_all(Arguments& args, const char* name, const MPI_Request* handles, int count) noexcept {
    if (!args.count("count", count) || !args.array(name, handles, count)) {
        return false;
    }
    CommonSession session;
    for (int i = 0; i < count; ++i) {
        const Request* request = checked_object<Request>(handles[i]);
        if (!session.has(request) && !session.admits(args, name, handles[i], request)) {
            return false;
        }
    }
    return true;
}

inline int report_code(const char* function, Communicator* comm, int code) noexcept {
    return code == MPI_SUCCESS ? code : report(ErrorTarget(comm), function, code, {});
}

inline void set_empty(MPI_Status* status) noexcept {
    if (status != MPI_STATUS_IGNORE) {
        fill_empty_status(*status);
    }
}

inline MPI_Status* nth(MPI_Status* statuses, std::size_t i) noexcept {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

// The first active request that is complete; `*any` tells whether there was an active one.
inline int find_complete(std::span<const MPI_Request> handles, bool* any) noexcept {
    *any = false;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const Request* request = active(handles[i]);
        if (request != nullptr) {
            *any = true;
            if (request->is_complete()) {
                return int(i);
            }
        }
    }
    return MPI_UNDEFINED;
}

inline bool all_complete(std::span<const MPI_Request> handles) noexcept {
    for (MPI_Request handle : handles) {
        const Request* request = active(handle);
        if (request != nullptr && !request->is_complete()) {
            return false;
        }
    }
    return true;
}

// Any of these leads to the same progress engine.
inline Progress* progress_of(std::span<const MPI_Request> handles) noexcept {
    for (MPI_Request handle : handles) {
        if (const Request* request = active(handle)) {
            return request->progress;
        }
    }
    return nullptr;
}

// Of the calls that fill two arrays.
inline bool check_some(
    Arguments& args, const MPI_Request* array, int count, const int* outcount, const int* indices) noexcept {
    return check_all(args, "array_of_requests", array, count) && args.pointer("outcount", outcount) &&
        args.array("array_of_indices", indices, count);
}

} // namespace patchbay::api
