// SPDX-License-Identifier: BSD-3-Clause
#include "object/origins.h"

#include "object/communicator.h"
#include "object/request.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>

namespace patchbay {

std::atomic<Origins*> Origins::_active{nullptr};

namespace {

struct KindText {
    ObjectKind kind;
    const char* one;
    const char* many;
    const char* remedy;
};
constexpr KindText kind_texts[] = {
    {ObjectKind::request, "request", "requests",
        "complete each with MPI_Wait or MPI_Test; free persistent ones with MPI_Request_free"},
    {ObjectKind::message, "message", "messages", "receive each with MPI_Mrecv or MPI_Imrecv"},
    {ObjectKind::window, "window", "windows", "free each with MPI_Win_free"},
    {ObjectKind::communicator, "communicator", "communicators", "free each with MPI_Comm_free"},
    {ObjectKind::group, "group", "groups", "free each with MPI_Group_free"},
    {ObjectKind::datatype, "datatype", "datatypes", "free each with MPI_Type_free"},
    {ObjectKind::op, "op", "ops", "free each with MPI_Op_free"},
    {ObjectKind::info, "info object", "info objects", "free each with MPI_Info_free"},
    {ObjectKind::errhandler, "error handler", "error handlers", "free each with MPI_Errhandler_free"},
    {ObjectKind::session, "session", "sessions", "close each with MPI_Session_finalize"},
};

const KindText& text_of(ObjectKind kind) noexcept {
    static constexpr KindText other{ObjectKind::dead, "object", "objects", "free each of them"};
    const auto* const found = std::find_if(
        std::begin(kind_texts), std::end(kind_texts), [kind](const KindText& t) { return t.kind == kind; });
    return found != std::end(kind_texts) ? *found : other;
}

// What frees an object of the extensions is another function than for its kind. `where` begins with the function that
// made it.
const char* remedy_of(const KindText& kind, std::string_view where) noexcept {
    if (where.starts_with("MPIX_Bind_") || where.starts_with("MPIX_Ibind_")) {
        return "release each with MPIX_Unbind_channel";
    }
    return where.starts_with("MPIX_Threadcomm_") ? "free each with MPIX_Threadcomm_free" : kind.remedy;
}

} // namespace

Origins::Origin Origins::with_name(Origin origin, const Communicator& comm) {
    const std::lock_guard lock(comm.mutex);
    origin.name = comm.name;
    return origin;
}

// Never destroyed: other threads may use it while the check is switched off.
void Origins::switch_on() {
    static auto& of_process = *new Origins;
    if (active() == nullptr) {
        const std::lock_guard lock(of_process._mutex);
        of_process._is_on = true;
        _active.store(&of_process, std::memory_order_release);
    }
}

std::string Origins::switch_off() {
    Origins* const last = _active.exchange(nullptr, std::memory_order_acq_rel);
    if (last == nullptr) {
        return {};
    }
    std::string text = last->report();
    last->clear();
    return text;
}

void Origins::clear() noexcept {
    const std::lock_guard lock(_mutex);
    _is_on = false;
    _handles.clear();
    _lost.clear();
}

void Origins::add(
    const void* what, ObjectKind kind, std::string_view function, std::string_view on, CallSite site) noexcept {
    try {
        Origin origin{kind, std::string(function), std::string(on), {}, site};
        const std::lock_guard lock(_mutex);
        if (_is_on) {
            _handles.emplace(what, std::move(origin));
        }
    } catch (const std::bad_alloc&) {
        // The report lacks this handle.
    }
}

void Origins::remove(const void* what) noexcept {
    const std::lock_guard lock(_mutex);
    if (const auto found = _handles.find(what); found != _handles.end()) {
        _handles.erase(found);
    }
}

void Origins::lose(const void* what, std::string_view name) noexcept {
    try {
        const std::lock_guard lock(_mutex);
        for (auto found = _handles.find(what); found != _handles.end(); found = _handles.find(what)) {
            found->second.name = name;
            _lost.push_back(std::move(found->second));
            _handles.erase(found);
        }
    } catch (const std::bad_alloc&) {
        // The report lacks the name.
    }
}

std::string Origins::report() const {
    struct Line {
        ObjectKind kind;
        std::string where;
        std::size_t count;
    };
    std::vector<Line> lines;
    std::size_t total = 0;
    const auto add_line = [&](const Origin& origin) {
        std::string where =
            fmt::format("{}{} at {}", origin.function, origin.on.empty() ? "" : " on " + origin.on, origin.site.text());
        if (!origin.name.empty()) {
            where += " (named " + origin.name + ")";
        }
        ++total;
        for (Line& line : lines) {
            if (line.kind == origin.kind && line.where == where) {
                ++line.count;
                return;
            }
        }
        lines.push_back({origin.kind, std::move(where), 1});
    };
    const std::lock_guard lock(_mutex);
    for (const Origin& origin : _lost) {
        add_line(origin);
    }
    for (const auto& [what, origin] : _handles) {
        // What the program has not freed exists.
        if (origin.kind == ObjectKind::communicator && !is_thread_handle(reinterpret_cast<std::uintptr_t>(what))) {
            add_line(with_name(origin, *static_cast<const Communicator*>(what)));
        } else {
            add_line(origin);
        }
    }
    if (lines.empty()) {
        return {};
    }
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        const KindText* const first = &text_of(a.kind);
        const KindText* const second = &text_of(b.kind);
        return first != second ? first < second : a.where < b.where;
    });
    std::string text =
        fmt::format("mpi_check leaks: the program has not freed {} object{}:", total, total == 1 ? "" : "s");
    for (const Line& line : lines) {
        const KindText& kind = text_of(line.kind);
        text += fmt::format("\n  {} {} of {}: {}", line.count, line.count == 1 ? kind.one : kind.many, line.where,
            remedy_of(kind, line.where));
    }
    return text;
}

void OriginNote::add(Origins& origins, const Request& request, const char* function, const Communicator& on) noexcept {
    try {
        origins.add(to_handle(&request), ObjectKind::request, function, on.describe());
        _what = to_handle(&request);
    } catch (const std::bad_alloc&) {
        _what = nullptr; // the handle is not listed
    }
}

void OriginNote::take_back() noexcept {
    if (Origins* const origins = Origins::active()) {
        origins->remove(_what);
    }
}

} // namespace patchbay
