// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch/event_loop.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// One destination of output: stdout or stderr of mpirun, or a file. Text is written in the order in which it was
// appended, and appending never blocks the event loop. The mode of the descriptor is not changed, because other
// processes share it; a terminal is opened anew where that is possible.
class OutputSink {
public:
    // `owned` is closed with the sink when it is valid; otherwise `fd` belongs to the caller.
    OutputSink(EventLoop& loop, int fd, FileDescriptor owned, std::string name);
    ~OutputSink();
    OutputSink(const OutputSink&) = delete;
    OutputSink& operator=(const OutputSink&) = delete;

    void append(std::string_view text);
    // Whether more text is waiting to be written than should be kept in memory.
    bool full() const { return backlog() > 1 << 20; }
    bool empty() const { return backlog() == 0; }
    // Whether the reader has closed the destination, or it cannot be written. Appended text is then discarded.
    bool broken() const { return _broken; }
    bool at_line_start() const { return _at_line_start; }
    // The stream of which the line that is not complete yet is a piece; null: none that goes on with it.
    const void* line_of = nullptr;

    // Called when a backlog that had to wait has been written, and when the sink becomes unusable. In the latter case
    // the text is the cause; it is empty if the reader has closed the destination.
    std::function<void(const std::string& why_broken)> on_change;

private:
    std::size_t backlog() const { return _pending.size() - _written; }
    void flush();
    bool write_some(); // false: the destination takes nothing now
    void break_off(int error);

    EventLoop& _loop;
    FileDescriptor _owned; // the destination, or the terminal opened anew
    int _fd;
    std::string _name;
    bool _may_block; // a pipe, terminal or socket: written only if poll(2) reports it as writable
    bool _watching = false;
    bool _broken = false;
    bool _at_line_start = true;
    std::string _pending;
    std::size_t _written = 0; // bytes of _pending that are written already
};

} // namespace patchbay::launch
