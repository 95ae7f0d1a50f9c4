// SPDX-License-Identifier: BSD-3-Clause
#include "components/pml/ob1/rendezvous.h"

#include "components/common/short_copy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

namespace patchbay::pml::ob1 {

using btl::SendCode;

namespace {

// A message that arrives in smaller blocks than this on average comes in fragments, which are unpacked at the speed of
// a copy: a get() that scatters bytes costs much more for each block, in the kernel, than the copy of a small one.
constexpr std::size_t least_block_to_get = 4096;

constexpr std::uintptr_t page = 4096;

} // namespace

SendCode Rendezvous::send_rts(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const Convertor& convertor = request.convertor.make(*request.type, request.count, request.buffer);
    const unsigned way = _peers.leads(peer) && peer.choice != nullptr ? peer.choice->announce(request.bytes) : 0;
    Extended<RtsHeader> header{RtsHeader::make({PacketType::rts, 0, 0, request.source, request.tag, request.id},
                                   reinterpret_cast<std::uintptr_t>(&request), request.bytes, way,
                                   reinterpret_cast<std::uintptr_t>(convertor.contiguous())),
        {}};
    const std::size_t header_size = _handshake.address(request, header);
    return peer.btl->send(*peer.endpoint, &header, header_size, nullptr, 0);
}

void Rendezvous::on_cts(const CtsHeader& cts) noexcept {
    auto& request = *request_at<SendRequest>(cts.send_request);
    if (cts.resumes) {
        request.peer->btl->resume_packets(*request.peer->endpoint);
    }
    request.remote_request = cts.recv_request;
    request.stream_end = cts.offset + cts.length;
    request.convertor->seek(cts.offset);
    _backlog.stream(request);
}

bool Rendezvous::on_put(Peer& from, const PutHeader& put) noexcept {
    if (!_backlog.prepare_reply(from)) {
        return false;
    }
    auto& request = *request_at<SendRequest>(put.send_request);
    const std::span<const std::byte> part(request.convertor->contiguous() + put.offset, put.length);
    const std::ptrdiff_t written = from.btl->put(*from.endpoint, put.address, part);
    const auto code = std::uint32_t(written == std::ptrdiff_t(part.size()) ? 0 : (written < 0 ? -written : EIO));
    _backlog.reply(from, PacketType::put_end, put.recv_request, code, request.comm->session);
    return true;
}

SendCode Rendezvous::send_fragment(SendRequest& request) noexcept {
    Peer& peer = *request.peer;
    const FragHeader header{PacketType::frag, {}, request.remote_request};
    Convertor& convertor = *request.convertor;
    const std::size_t left = request.stream_end - convertor.position();
    const std::size_t size = std::min(left, peer.btl->limits().packet);
    if (const std::byte* from = convertor.contiguous()) {
        const SendCode code = peer.btl->send(*peer.endpoint, &header, sizeof header, from + convertor.position(), size);
        if (code == SendCode::ok) {
            convertor.seek(convertor.position() + size);
        }
        return code;
    }
    const auto reservation = peer.btl->reserve(*peer.endpoint, sizeof header, size);
    if (reservation.code != SendCode::ok) {
        return reservation.code;
    }
    const std::size_t before = convertor.position();
    const std::size_t packed = convertor.pack(reservation.room.data(), std::min(left, reservation.room.size()));
    const SendCode code = peer.btl->commit(*peer.endpoint, &header, sizeof header, packed);
    if (code != SendCode::ok) {
        convertor.seek(before); // it is packed again
    }
    return code;
}

void Rendezvous::begin(RecvRequest& request, Peer& from, const MatchHeader& match, std::uint64_t sender,
    std::uint64_t length, std::uint64_t address) noexcept {
    request.from = &from;
    request.remote_request = sender;
    request.remote_address = address;
    request.expected = std::min<std::size_t>(length, request.bytes);
    fill_status(request.status, match.source, match.tag, request.expected);
    if (length > request.bytes) {
        request.truncate(length);
    }
    if (from.failed || !_peers.connect(from)) {
        request.error = from.failed ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER;
        request.complete();
        return;
    }
    if (request.expected == 0) {
        _backlog.reply(from, PacketType::fin, sender, 0, request.comm->session);
        request.complete();
        return;
    }
    request.convertor.make(*request.type, request.count, request.buffer);
    switch (way_of(request, length, address)) {
    case Way::get:
        fetch(request);
        break;
    case Way::halves:
        share(request);
        break;
    case Way::stream:
        request_stream(request);
        break;
    }
}

Way Rendezvous::way_of(RecvRequest& request, std::uint64_t length, std::uint64_t address) noexcept {
    const Peer& from = *request.from;
    const btl::Limits& limits = from.btl->limits();
    const bool worthwhile =
        limits.get_from != 0 && length >= limits.get_from && request.convertor->mean_block() >= least_block_to_get;
    request.timed_since = {};
    request.resumes = false;
    if (address == 0 || !worthwhile || !from.btl->can_get(*from.endpoint)) {
        return Way::stream;
    }
    if (!_way) {
        return limits.get_is_timed ? time_all(request) : Way::get;
    }
    return *_way == Way::halves && request.convertor->contiguous() == nullptr ? Way::get : *_way;
}

Way Rendezvous::time_all(RecvRequest& request) noexcept {
    std::unique_ptr<TransferChoice>& choice = request.from->choice;
    if (choice == nullptr) {
        choice.reset(new (std::nothrow) TransferChoice);
        if (choice == nullptr) {
            return Way::stream;
        }
    }
    if (request.convertor->contiguous() == nullptr) { // the sender can only write to one block
        const Way way = choice->way_of(request.expected);
        return way == Way::halves ? Way::get : way;
    }
    const TransferChoice::Next next = choice->next(request.expected);
    request.resumes = next.resumes;
    if (next.is_timed) {
        request.timed_since = _now();
    }
    return next.way;
}

// `way`: by which the last byte came.
void Rendezvous::complete(RecvRequest& request, Way way) noexcept {
    if (request.timed_since != TransferChoice::Time()) [[unlikely]] {
        request.from->choice->note(way, request.expected, request.timed_since, _now());
    }
    request.complete();
}

void Rendezvous::on_fragment(const FragHeader& frag, const std::byte* payload, std::size_t size) noexcept {
    auto& request = *request_at<RecvRequest>(frag.recv_request);
    Convertor& convertor = *request.convertor;
    if (std::byte* to = convertor.contiguous()) {
        const std::size_t wanted = std::min(size, request.expected - convertor.position());
        common::copy_any(to + convertor.position(), payload, wanted);
        convertor.seek(convertor.position() + wanted);
    } else {
        convertor.unpack(payload, size);
    }
    if (convertor.position() == request.expected) {
        _streamed.erase(request);
        complete(request, Way::stream);
    }
}

void Rendezvous::on_stream_end(const ControlHeader& end) noexcept {
    auto& request = *request_at<RecvRequest>(end.request);
    _streamed.erase(request);
    request.error = int(end.code);
    request.complete();
}

int Rendezvous::continue_fetches() noexcept {
    int events = 0;
    auto fetches = std::exchange(_fetches, {}); // fetch() puts back those that are not finished
    while (!fetches.empty()) {
        fetch(*fetches.pop_front());
        ++events;
    }
    return events;
}

void Rendezvous::fetch(RecvRequest& request) noexcept {
    if (!fetch_chunk(request)) {
        _fetches.push_back(request);
        _peers.mark_work();
    }
}

// true: nothing is left to fetch, because the message is complete or the rest comes in fragments. The request may not
// exist any more then.
bool Rendezvous::fetch_chunk(RecvRequest& request) noexcept {
    Convertor& convertor = *request.convertor;
    if (!_backlog.prepare_reply(*request.from)) {
        return false; // the next poll tries again
    }
    const std::size_t end = std::min(request.expected, convertor.position() + _fetch_chunk);
    if (!fetch_part(request, end)) {
        request_stream(request);
        return true;
    }
    if (end < request.expected) {
        return false;
    }
    finish(request, Way::get);
    return true;
}

// Fetches up to `end`. false: the convertor is where get() has failed.
bool Rendezvous::fetch_part(RecvRequest& request, std::size_t end) noexcept {
    Convertor& convertor = *request.convertor;
    while (convertor.position() < end) {
        std::array<iovec, 64> blocks;
        const std::size_t before = convertor.position();
        const std::size_t filled = convertor.next_blocks(blocks, end - before);
        const std::ptrdiff_t got = request.from->btl->get(
            *request.from->endpoint, request.remote_address + before, std::span(blocks).first(filled));
        if (got != std::ptrdiff_t(convertor.position() - before)) {
            convertor.seek(before + std::size_t(std::max<std::ptrdiff_t>(got, 0)));
            return false;
        }
    }
    return true;
}

// Nothing is left at the sender, which waits for that. Memory for the reply has been prepared.
void Rendezvous::finish(RecvRequest& request, Way way) noexcept {
    _backlog.reply(*request.from, PacketType::fin, request.remote_request, 0, request.comm->session);
    complete(request, way);
}

// Begins with the next block of the message: has the sender write its second half, and fetches the first one. What
// follows is up to on_put_end(). The boundary is one of pages in this process, of which each is written by one side.
void Rendezvous::share(RecvRequest& request) noexcept {
    Convertor& convertor = *request.convertor;
    const std::size_t position = convertor.position();
    const std::size_t left = request.expected - position;
    if (left < 4 * page || !_backlog.prepare_reply(*request.from)) {
        fetch(request); // which tries again until there is memory
        return;
    }
    const std::size_t chunk = std::max(_fetch_chunk, std::size_t(4 * page));
    const std::size_t block = left <= 3 * chunk ? left : 2 * chunk; // none is left that is shorter than a chunk
    const auto start = reinterpret_cast<std::uintptr_t>(convertor.contiguous()) + position;
    const std::size_t half = ((start + block / 2) & ~std::uintptr_t(page - 1)) - start;
    request.fetch_end = position + half;
    request.put_end = position + block;
    const PutHeader header{PacketType::put, {}, request.remote_request, reinterpret_cast<std::uintptr_t>(&request),
        request.fetch_end, request.put_end - request.fetch_end, start + half};
    if (!ask_sender(request, header)) {
        return;
    }
    (void)fetch_part(request, request.fetch_end); // if it fails, on_put_end() finds the convertor before the end
}

bool Rendezvous::on_put_end(Peer& from, const ControlHeader& end) noexcept {
    if (!_backlog.prepare_reply(from)) {
        return false;
    }
    auto& request = *request_at<RecvRequest>(end.request);
    Convertor& convertor = *request.convertor;
    _streamed.erase(request);
    const bool is_fetched = convertor.position() == request.fetch_end;
    if (end.code != 0 && from.choice != nullptr) {
        from.choice->forbid_halves();
    }
    if (end.code != 0 || !is_fetched) {
        request.timed_since = {};
        request_stream(request);
        return true;
    }
    convertor.seek(request.put_end);
    if (request.put_end < request.expected) {
        share(request);
    } else {
        finish(request, Way::halves);
    }
    return true;
}

void Rendezvous::request_stream(RecvRequest& request) noexcept {
    const std::size_t position = request.convertor->position();
    const CtsHeader header{PacketType::cts, request.resumes, {}, request.remote_request,
        reinterpret_cast<std::uintptr_t>(&request), position, request.expected - position};
    (void)ask_sender(request, header);
}

// Sends the cts or put. false: nothing will come, and the request has ended.
template <class Header>
bool Rendezvous::ask_sender(RecvRequest& request, const Header& header) noexcept {
    if (!_backlog.reply(*request.from, &header, sizeof header, request.comm->session)) {
        request.error = request.from->failed ? MPI_ERR_PROC_ABORTED : MPI_ERR_OTHER;
        request.complete();
        return false;
    }
    _streamed.push_back(request);
    return true;
}

void Rendezvous::fail(const Peer& peer) noexcept {
    fail(_fetches, peer);
    fail(_streamed, peer);
}

void Rendezvous::fail(Receives& receives, const Peer& peer) noexcept {
    for (RecvRequest* request = receives.first(); request != nullptr;) {
        RecvRequest* following = Receives::next(*request);
        if (request->from == &peer) {
            receives.erase(*request);
            request->error = MPI_ERR_PROC_ABORTED;
            request->complete();
        }
        request = following;
    }
}

} // namespace patchbay::pml::ob1
