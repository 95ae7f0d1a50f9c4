// SPDX-License-Identifier: BSD-3-Clause
// The stream of bytes between head and agent, in pieces of any size: each message is delivered once and whole, and what
// is no message closes the link. The first byte is the size of the pieces.
#include "launch/link.h"
#include "tests/fuzz/bytes.h"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace patchbay::launch;

namespace {

// As the format is described: a size of 32 bits and so many bytes; a size above 1 GiB is none.
std::vector<std::string> messages_in(std::string_view stream) {
    std::vector<std::string> messages;
    std::uint32_t size = 0;
    while (stream.size() >= sizeof size) {
        std::memcpy(&size, stream.data(), sizeof size);
        if (size > 1u << 30 || stream.size() - sizeof size < size) {
            break;
        }
        messages.emplace_back(stream.substr(sizeof size, size));
        stream.remove_prefix(sizeof size + size);
    }
    return messages;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    patchbay::fuzz::Bytes bytes(data, size);
    const std::size_t piece = std::size_t(bytes.byte()) + 1;
    const std::string_view stream = bytes.rest().substr(0, 4096); // what the socket has room for
    EventLoop loop;
    auto [near, far] = Link::make_pair();
    REQUIRE(bool(near) && bool(far));
    std::vector<std::string> received;
    bool closed = false;
    Link link(
        loop, std::move(near), [&](std::string_view message) { received.emplace_back(message); },
        [&] {
            closed = true;
            loop.stop();
        });
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        const std::string_view part = stream.substr(at, piece);
        if (::send(far.get(), part.data(), part.size(), MSG_NOSIGNAL) < 0) {
            break; // the link is closed already
        }
    }
    far.reset();
    loop.run();
    REQUIRE(closed);
    REQUIRE(received == messages_in(stream));
    return 0;
}
