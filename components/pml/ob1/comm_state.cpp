// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/comm_state.h"

#include "components/pml/ob1/requests.h"
#include "core/base/format_into.h"
#include "core/log.h"
#include "frameworks/cid/cid.h"

#include <array>

namespace patchbay::pml::ob1 {

void PostedList::push_back(RecvRequest& request) noexcept {
    request.posted_link = {last, nullptr};
    (last == nullptr ? first : last->posted_link.next) = &request;
    last = &request;
}

void PostedList::erase(RecvRequest& request) noexcept {
    const Link<RecvRequest> link = request.posted_link;
    (link.previous == nullptr ? first : link.previous->posted_link.next) = link.next;
    (link.next == nullptr ? last : link.next->posted_link.previous) = link.previous;
}

RecvRequest* PostedList::find(int tag) const noexcept {
    for (RecvRequest* request = first; request != nullptr; request = request->posted_link.next) {
        if (tag_matches(request->tag, tag, MPI_ANY_TAG)) {
            return request;
        }
    }
    return nullptr;
}

std::uint64_t PostedList::length() const noexcept {
    std::uint64_t requests = 0;
    for (const RecvRequest* request = first; request != nullptr; request = request->posted_link.next) {
        ++requests;
    }
    return requests;
}

CommState::CommState(Communicator& comm) noexcept
    : comm(comm),
      excid(comm.id == nullptr ? nullptr : comm.id->extended_id()),
      session(comm.session) {}

std::string_view Failure::text() const noexcept {
    thread_local std::array<char, 256> text;
    return code == MPI_ERR_NO_SPACE
        ? format_into(text,
              "pml/ob1: process {} has no index left for this communicator, so that none of its members can use it; "
              "free it, and let process {} free communicators that it does not need any more",
              by, by)
        : format_into(text,
              "pml/ob1: process {} has failed to construct this communicator, so that none of its members can use it; "
              "free it",
              by);
}

bool CommState::make_ranks() noexcept {
    if (failure.happened()) {
        return false;
    }
    _table = _ranks = static_cast<RankState*>(std::calloc(std::size_t(comm.remote_size), sizeof(RankState)));
    return _ranks != nullptr;
}

void CommState::fail(const Failure& why) noexcept {
    failure = why;
    _ranks = nullptr;
    for (int rank = 0; _table != nullptr && rank < comm.remote_size; ++rank) {
        _table[rank].peer = _table[rank].handshake_peer = nullptr;
    }
}

RecvRequest* CommState::take_posted(int source) noexcept {
    RecvRequest* request = (source == MPI_ANY_SOURCE ? _any_source : _table[source].posted).first;
    if (request != nullptr) {
        withdraw(*request);
    }
    return request;
}

void CommState::report_source(const MatchHeader& match) const noexcept {
    char text[200];
    log_error(format_into(text,
        "pml/ob1: a message from rank {} came for communicator {}, which has only {} ranks; it is dropped",
        match.source, comm.index, comm.remote_size));
}

void CommState::post(RecvRequest& request) noexcept {
    request.order = _posts++;
    request.posted = true;
    (request.source == MPI_ANY_SOURCE ? _any_source : _table[request.source].posted).push_back(request);
}

void CommState::withdraw(RecvRequest& request) noexcept {
    request.posted = false;
    (request.source == MPI_ANY_SOURCE ? _any_source : _table[request.source].posted).erase(request);
}

RecvRequest* CommState::match(int source, int tag) noexcept {
    PostedList& specific = _table[source].posted;
    RecvRequest* request = specific.find(tag);
    if (_any_source.first != nullptr) [[unlikely]] {
        RecvRequest* wild = _any_source.find(tag);
        if (wild != nullptr && (request == nullptr || wild->order < request->order)) {
            _any_source.erase(*wild);
            wild->posted = false;
            return wild;
        }
    }
    if (request != nullptr) {
        specific.erase(*request);
        request->posted = false;
    }
    return request;
}

void CommState::add(Unexpected& message) noexcept {
    _table[message.match.source].unexpected.push_back(message);
    _arrivals.push_back(message);
}

void CommState::remove(Unexpected& message) noexcept {
    _table[message.match.source].unexpected.erase(message);
    _arrivals.erase(message);
}

Unexpected* CommState::find(int source, int tag) noexcept {
    if (source == MPI_ANY_SOURCE) {
        for (Unexpected* message = _arrivals.first(); message != nullptr; message = ArrivalQueue::next(*message)) {
            if (tag_matches(tag, message->match.tag, MPI_ANY_TAG)) {
                return message;
            }
        }
        return nullptr;
    }
    for (Unexpected* message = _table[source].unexpected.first(); message != nullptr;
         message = SourceQueue::next(*message)) {
        if (tag_matches(tag, message->match.tag, MPI_ANY_TAG)) {
            return message;
        }
    }
    return nullptr;
}

Unexpected* CommState::find_id(int source, std::uint32_t id) noexcept {
    for (Unexpected* message = _table[source].unexpected.first(); message != nullptr;
         message = SourceQueue::next(*message)) {
        if (message->match.id == id) {
            return message;
        }
    }
    return nullptr;
}

std::uint64_t CommState::unexpected_length() const noexcept {
    std::uint64_t messages = 0;
    for (Unexpected* message = _arrivals.first(); message != nullptr; message = ArrivalQueue::next(*message)) {
        ++messages;
    }
    return messages;
}

std::uint64_t CommState::posted_length() const noexcept {
    std::uint64_t requests = _any_source.length();
    for (int rank = 0; _table != nullptr && rank < comm.remote_size; ++rank) {
        requests += _table[rank].posted.length();
    }
    return requests;
}

std::size_t CommState::list_posted(std::span<UnfinishedMessage> into) const noexcept {
    std::size_t found = 0;
    const auto list = [&](const PostedList& posted) {
        for (const RecvRequest* request = posted.first; request != nullptr; request = request->posted_link.next) {
            if (request->tag < 0 && request->tag != MPI_ANY_TAG) {
                continue;
            }
            if (found < into.size()) {
                into[found] = {false, request->source, request->tag};
            }
            ++found;
        }
    };
    list(_any_source);
    for (int rank = 0; _table != nullptr && rank < comm.remote_size; ++rank) {
        list(_table[rank].posted);
    }
    return found;
}

} // namespace patchbay::pml::ob1
