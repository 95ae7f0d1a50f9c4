// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "launch/event_loop.h"
#include "launch/job.h"
#include "launch/output_sink.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::launch {

// Forwards the output of the ranks to its destinations. Lines of different ranks never mix: a line is forwarded when
// its newline or the end of the output has arrived. Only a line longer than 16 MiB is forwarded in pieces, and the
// output of a single rank, with which no other output can mix, is forwarded as it arrives (prompts work). Where ranks
// come by MPI_Comm_spawn after a piece, their output begins a line.
class Output {
public:
    Output(EventLoop& loop, const JobSpec& job);
    ~Output();

    // The ends of the pipes to which the rank writes.
    struct RankEnds {
        FileDescriptor out;
        FileDescriptor err;
    };
    // `rank` is its name in lines and files: "3", or "1.3" for rank 3 of job 1. Opens the files that --output-filename
    // requires. Errc::system.
    Result<RankEnds> add_rank(const std::string& rank);

    // How many descriptors the output of a rank that runs takes in this process.
    int files_of_rank() const { return _prefix.empty() ? 2 : 4; }

    // A line of mpirun itself.
    void message(std::string_view text);

    // Called when no process is left that could write: reads what the pipes still contain, and calls back when
    // everything is written.
    void finish(std::function<void()> done);

    // Whether output could not be written: a full disk, say, but not a reader that has closed its pipe.
    bool has_lost() const { return _has_lost; }

private:
    struct Stream;

    std::shared_ptr<OutputSink> make_sink(int fd, FileDescriptor owned, std::string name);
    Result<std::shared_ptr<OutputSink>> open_file(const std::string& rank, const char* extension);
    Status add_stream(
        const std::string& rank, const char* name, std::shared_ptr<OutputSink> sink, FileDescriptor& rank_end);
    void watch(Stream& stream);
    void read_some(Stream& stream);
    void take(Stream& stream, std::string_view text);
    void pass_on(Stream& stream, std::string_view text);
    void close(Stream& stream);
    void remove_closed_streams_later();
    void sink_changed(OutputSink& sink, const std::string& why_broken);
    bool all_written() const;
    bool is_raw() const { return _ranks == 1 && !_tag; } // no other output can mix with it

    EventLoop& _loop;
    bool _tag;
    int _ranks = 0;
    bool _has_lost = false;
    std::string _prefix;
    std::shared_ptr<OutputSink> _stdout;
    std::shared_ptr<OutputSink> _stderr;
    std::vector<std::unique_ptr<Stream>> _streams; // each file belongs to one of them
    bool _removes_later = false;
    std::vector<char> _buffer;
    std::function<void()> _done;
};

} // namespace patchbay::launch
