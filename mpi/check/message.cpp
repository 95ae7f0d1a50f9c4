// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/check/message.h"

#include "mpi/check/finding.h"
#include "object/error_cause.h"
#include "object/status.h"
#include "object/window.h"

#include <fmt/core.h>

namespace patchbay::check {

std::string MessageCall::text(const CallSite& site) const {
    if (window != nullptr) {
        return fmt::format(
            "{} {} rank {} on {} at {}", function, sends() ? "to" : "from", peer, window->describe(), site.text());
    }
    if (collective) {
        return fmt::format("{} on {} at {}", function, comm->describe(), site.text());
    }
    const std::string what = partition < 0 ? function : fmt::format("{} of partition {}", function, partition);
    std::string with = tag == MPI_ANY_TAG ? "MPI_ANY_TAG" : fmt::format("tag {}", tag);
    std::string rank = peer == MPI_ANY_SOURCE ? "MPI_ANY_SOURCE" : fmt::format("rank {}", peer);
    return fmt::format(
        "{} {} {} with {} on {} at {}", what, sends() ? "to" : "from", rank, with, comm->describe(), site.text());
}

const char* name_of_send(pml::SendMode mode, coll::Form form) noexcept {
    static constexpr const char* names[][3] = {
        {"MPI_Send", "MPI_Isend", "MPI_Send_init"},
        {"MPI_Ssend", "MPI_Issend", "MPI_Ssend_init"},
        {"MPI_Rsend", "MPI_Irsend", "MPI_Rsend_init"},
        {"MPI_Bsend", "MPI_Ibsend", "MPI_Bsend_init"},
    };
    return names[std::size_t(mode)][std::size_t(form)];
}

int compare_types(
    const MessageCall& receive, const CallSite& site, const Signature& sent, const MPI_Status& status) noexcept {
    bool same = true;
    unless_exhausted([&] {
        const Signature expected = Signature::of(*receive.type, receive.count, status_bytes(status));
        same = sent.matches(expected);
        if (!same) {
            print_finding("types",
                fmt::format(
                    "{}: the message from rank {} with tag {} was sent as {}, but argument datatype receives it "
                    "as {}. Give the same basic types in the same order on both sides",
                    receive.text(site), status.MPI_SOURCE, status.MPI_TAG, sent.text(), expected.text()));
        }
    });
    return same ? MPI_SUCCESS : note_cause(MPI_ERR_TYPE, printed_cause);
}

} // namespace patchbay::check
