// SPDX-License-Identifier: BSD-3-Clause
// Bundles, which are an extension: one persistent request that consists of others.
#include "object/bundle.h"

#include "include/mpix.h"
#include "mpi/api/completion.h"
#include "mpi/api/handles.h"
#include "mpi/api/initialized.h"
#include "mpi/instance/instance.h"

#include <memory>
#include <new>
#include <span>

namespace patchbay::api {

namespace {

// Checks one of the requests. `first`: one of those before it that has a communicator; null: there was none.
bool check_member(Arguments& args, MPI_Request handle, const Request*& first) noexcept {
    constexpr const char* name = "requests";
    if (!args.request(name, handle)) {
        return false;
    }
    const Request& request = *to_object<Request>(handle);
    if (!(args.require(request.is_persistent(), MPI_ERR_REQUEST, name, 0, "must contain persistent requests only") &&
            args.require(!request.is_active(), MPI_ERR_REQUEST, name, 0, "must contain inactive requests only"))) {
        return false;
    }
    if (request.comm == nullptr) {
        return true;
    }
    if (first == nullptr) {
        first = &request;
    }
    return args.same_session(name, first->session, request.session);
}

bool check_members(Arguments& args, std::span<const MPI_Request> handles) noexcept {
    const Request* first = nullptr;
    for (MPI_Request handle : handles) {
        if (!check_member(args, handle, first)) {
            return false;
        }
    }
    return true;
}

// What the waits of the bundle poll: that of its members, or, if there are none, that of the library.
Progress* progress_for(Arguments& args, std::span<const MPI_Request> handles, int* code) noexcept {
    if (!handles.empty()) {
        return progress_of(handles, [](MPI_Request handle) { return to_object<Request>(handle); });
    }
    Instance* const instance = with_locking_chosen(args, initialized(args, code), code);
    return instance != nullptr ? &instance->progress() : nullptr;
}

int bundle_init(int count, const MPI_Request* array, MPI_Info info, MPI_Request* handle) noexcept {
    Arguments args("MPIX_Bundle_init", Arguments::Pending());
    if (checking() &&
        !(args.permitted() && args.count("count", count) && args.array("requests", array, count) &&
            args.info_or_null("info", info) && args.pointer("bundle", handle) &&
            check_members(args, {array, std::size_t(count)}))) {
        return args.code();
    }
    const std::span<const MPI_Request> handles(array, std::size_t(count));
    *handle = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    Progress* const progress = progress_for(args, handles, &code);
    if (progress == nullptr) {
        return code;
    }
    const std::unique_ptr<Request*[]> members(new (std::nothrow) Request*[handles.size()]);
    if (members == nullptr) {
        return args.fail(MPI_ERR_NO_MEM, "out of memory for a bundle");
    }
    for (std::size_t i = 0; i < handles.size(); ++i) {
        members[i] = to_object<Request>(handles[i]);
    }
    Bundle* bundle = nullptr;
    code = Bundle::make(*progress, {members.get(), handles.size()}, &bundle);
    if (code != MPI_SUCCESS) {
        return args.fail(
            code, code == MPI_ERR_REQUEST ? "requests contains a request twice" : "out of memory for a bundle");
    }
    bundle->enter_list();
    if (Origins* const origins = Origins::active()) [[unlikely]] {
        origins->add(to_handle<Request>(bundle), ObjectKind::request, args.function(),
            bundle->comm != nullptr ? bundle->comm->describe() : std::string());
    }
    *handle = to_handle<Request>(bundle);
    return MPI_SUCCESS;
}

} // namespace

} // namespace patchbay::api

int PMPIX_Bundle_init(int count, MPI_Request requests[], MPI_Info info, MPI_Request* bundle) {
    return patchbay::api::bundle_init(count, requests, info, bundle);
}
