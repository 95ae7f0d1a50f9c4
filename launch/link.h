// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"
#include "launch/file_descriptor.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::launch {

// One end of the connection between the head and an agent: messages of any size, in order, over a stream socket.
// Sending never waits. Used in the event loop's thread only.
class Link {
public:
    // `received` is called in the event loop for each message, never within send(); the bytes are valid during the
    // call. `closed` is called once, when the other end has gone or sends what is no message.
    Link(EventLoop& loop, FileDescriptor socket, std::function<void(std::string_view)> received,
        std::function<void()> closed);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void send(std::string_view message);

    // Two connected sockets, for a head and an agent on one node; invalid ones with errno if there are none.
    static std::pair<FileDescriptor, FileDescriptor> make_pair();

private:
    void watch(bool for_writing);
    void ready();
    void write_some();
    bool read_some();
    void deliver();
    void close();

    EventLoop& _loop;
    FileDescriptor _socket;
    std::function<void(std::string_view)> _received;
    std::function<void()> _closed;
    std::string _in;  // what has arrived and is not delivered yet
    std::string _out; // what the socket had no room for
    bool _writing = false;
};

} // namespace patchbay::launch
