// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/runtime/pmix_value.h"

namespace patchbay {

// `what` failed with this status; not_found: what was asked for is not published yet.
inline Error modex_error(pmix_status_t status, const std::string& what) {
    switch (status) {
    case PMIX_ERR_NOT_FOUND:
    case PMIX_ERR_TIMEOUT:
        return Error{Errc::not_found, what + ": not published yet"};
    case PMIX_ERR_PARTIAL_SUCCESS:
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_LOST_CONNECTION:
        return Error{Errc::peer_failed, what + ": a process that takes part has failed"};
    case PMIX_ERR_NOT_SUPPORTED:
        return Error{Errc::unsupported, what + ": this launcher does not offer it"};
    case PMIX_ERR_UNREACH:
        return Error{Errc::system, what + ": the launcher does not answer any more"};
    default:
        return Error{Errc::system, what + ": " + text_of(status)};
    }
}

} // namespace patchbay
