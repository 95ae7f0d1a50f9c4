// SPDX-License-Identifier: BSD-3-Clause
#include "launch/output.h"

#include "launch/report.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

namespace patchbay::launch {

namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr std::size_t longest_held_line = 16 << 20;

// Whether stdout and stderr are the same pipe, file or terminal. Then one sink serves both, so that a line of one is
// never inside a line of the other.
bool same_place(int a, int b) {
    struct stat first;
    struct stat second;
    return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
        first.st_ino == second.st_ino;
}

} // namespace

struct Output::Stream {
    FileDescriptor pipe;
    std::shared_ptr<OutputSink> sink;
    std::string tag;     // begins every line; empty without --tag-output
    std::string partial; // a line whose end has not arrived yet
    bool watched = false;
};

Output::Output(EventLoop& loop, const JobSpec& job)
    : _loop(loop),
      _tag(job.tag_output),
      _prefix(job.output_prefix),
      _buffer(read_size) {
    _stdout = _stderr = make_sink(STDOUT_FILENO, FileDescriptor(), "standard output");
    if (!same_place(STDOUT_FILENO, STDERR_FILENO)) {
        _stderr = make_sink(STDERR_FILENO, FileDescriptor(), "standard error");
    }
}

Output::~Output() = default;

std::shared_ptr<OutputSink> Output::make_sink(int fd, FileDescriptor owned, std::string name) {
    auto sink = std::make_shared<OutputSink>(_loop, fd, std::move(owned), std::move(name));
    sink->on_change = [this, place = sink.get()](const std::string& why) { sink_changed(*place, why); };
    return sink;
}

Result<Output::RankEnds> Output::add_rank(const std::string& rank) {
    ++_ranks;
    std::shared_ptr<OutputSink> out = _stdout;
    std::shared_ptr<OutputSink> err = _stderr;
    if (!_prefix.empty()) {
        auto out_file = open_file(rank, "out");
        auto err_file = open_file(rank, "err");
        if (!out_file || !err_file) {
            return out_file ? err_file.error() : out_file.error();
        }
        out = *out_file;
        err = *err_file;
    }
    RankEnds ends;
    for (auto [name, sink, end] : {std::tuple("stdout", out, &ends.out), std::tuple("stderr", err, &ends.err)}) {
        if (Status status = add_stream(rank, name, sink, *end); !status) {
            return status.error();
        }
    }
    return ends;
}

Result<std::shared_ptr<OutputSink>> Output::open_file(const std::string& rank, const char* extension) {
    std::string name = _prefix + "." + rank + "." + extension;
    FileDescriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) {
        return Error{Errc::system, "--output-filename: cannot write to " + name + ": " + errno_text(errno)};
    }
    int fd = file.get();
    return make_sink(fd, std::move(file), name);
}

Status Output::add_stream(
    const std::string& rank, const char* name, std::shared_ptr<OutputSink> sink, FileDescriptor& rank_end) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error{Errc::system, "cannot make a pipe for rank " + rank + ": " + errno_text(errno)};
    }
    rank_end = FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK); // only the end of this process
    auto stream = std::make_unique<Stream>();
    stream->pipe = FileDescriptor(ends[0]);
    stream->sink = std::move(sink);
    if (_tag) {
        stream->tag = "[" + rank + "]<" + name + ">: ";
    }
    watch(*stream);
    _streams.push_back(std::move(stream));
    return {};
}

void Output::message(std::string_view text) {
    _stderr->append((_stderr->at_line_start() ? "" : "\n") + message_line(text));
    _stderr->line_of = nullptr;
}

void Output::watch(Stream& stream) {
    stream.watched = true;
    _loop.watch(stream.pipe.get(), EPOLLIN, [this, &stream] { read_some(stream); });
}

void Output::read_some(Stream& stream) {
    if (stream.sink->full()) {
        // The rank has to wait until the reader of the output has caught up, as it would without mpirun.
        _loop.unwatch(stream.pipe.get());
        stream.watched = false;
        return;
    }
    ssize_t size = ::read(stream.pipe.get(), _buffer.data(), _buffer.size());
    if (size > 0) {
        take(stream, {_buffer.data(), static_cast<std::size_t>(size)});
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(stream);
    }
}

void Output::take(Stream& stream, std::string_view text) {
    if (is_raw()) {
        pass_on(stream, text);
        return;
    }
    std::size_t line_end = text.rfind('\n');
    if (line_end == std::string_view::npos) {
        stream.partial += text;
        if (stream.partial.size() > longest_held_line) {
            pass_on(stream, stream.partial);
            stream.partial.clear();
        }
        return;
    }
    std::string rest(text.substr(line_end + 1));
    stream.partial += text.substr(0, line_end + 1);
    std::string lines = std::exchange(stream.partial, std::move(rest));
    pass_on(stream, lines);
}

// Mostly whole lines; a piece of a line is continued by the next call for the stream.
void Output::pass_on(Stream& stream, std::string_view text) {
    OutputSink& sink = *stream.sink;
    if (sink.line_of != nullptr && sink.line_of != &stream) {
        sink.append("\n");
    }
    bool goes_on = sink.line_of == &stream;
    sink.line_of = text.ends_with('\n') ? nullptr : &stream;
    if (stream.tag.empty()) {
        sink.append(text);
        return;
    }
    std::string tagged;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n')); // without its end
        tagged += std::exchange(goes_on, false) ? "" : stream.tag;
        tagged += text.substr(0, line.size() + 1);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    sink.append(tagged);
}

void Output::close(Stream& stream) {
    if (stream.watched) {
        _loop.unwatch(stream.pipe.get());
        stream.watched = false;
    }
    stream.pipe.reset();
    remove_closed_streams_later();
    std::string rest = std::exchange(stream.partial, {});
    const bool is_open = stream.sink->line_of == &stream || !rest.empty();
    if (is_open && !stream.tag.empty()) {
        rest += '\n';
    }
    if (!rest.empty()) {
        pass_on(stream, rest);
    }
    if (stream.sink->line_of == &stream) {
        stream.sink->line_of = nullptr; // what comes next is appended, as it would be without mpirun
    }
}

// Not at once, because a callback of the stream or of its sink may be running. finish() closes all streams before it
// posts its own callback, so that this object is still there.
void Output::remove_closed_streams_later() {
    if (std::exchange(_removes_later, true)) {
        return;
    }
    _loop.post([this] {
        _removes_later = false;
        std::erase_if(_streams, [](const auto& stream) {
            return !stream->pipe && (stream->sink.use_count() > 1 || stream->sink->empty() || stream->sink->broken());
        });
    });
}

void Output::sink_changed(OutputSink& sink, const std::string& why_broken) {
    _has_lost = _has_lost || !why_broken.empty();
    if (!why_broken.empty() && &sink != _stderr.get()) {
        message(why_broken);
    }
    for (auto& stream : _streams) {
        if (stream->sink.get() != &sink) {
            continue;
        }
        if (!stream->pipe) {
            remove_closed_streams_later(); // what it has written was still to be passed on
            continue;
        }
        if (sink.broken()) {
            stream->partial.clear();
        }
        // Where the reader has closed it, the rank's next write fails with SIGPIPE, as it would without mpirun. After
        // another error the rank goes on, and what it writes is lost.
        if (sink.broken() && why_broken.empty()) {
            close(*stream);
        } else if (!stream->watched) {
            watch(*stream);
        }
    }
    if (_done && all_written()) {
        // Not called directly, because the callback may destroy this object.
        _loop.post(std::exchange(_done, nullptr));
    }
}

bool Output::all_written() const {
    const auto is_written = [](const OutputSink& sink) { return sink.empty() || sink.broken(); };
    return is_written(*_stdout) && is_written(*_stderr) &&
        std::ranges::all_of(_streams, [&](const auto& stream) { return is_written(*stream->sink); });
}

void Output::finish(std::function<void()> done) {
    for (auto& stream : _streams) {
        while (stream->pipe) {
            ssize_t size = ::read(stream->pipe.get(), _buffer.data(), _buffer.size());
            if (size > 0) {
                take(*stream, {_buffer.data(), static_cast<std::size_t>(size)});
            } else if (size == 0 || errno != EINTR) {
                close(*stream); // the end of the output, or all that has arrived
            }
        }
    }
    if (all_written()) {
        _loop.post(std::move(done));
    } else {
        _done = std::move(done);
    }
}

} // namespace patchbay::launch
