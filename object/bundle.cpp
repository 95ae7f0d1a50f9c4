// SPDX-License-Identifier: BSD-3-Clause
#include "object/bundle.h"

#include "core/base/out_of_memory.h"
#include "object/error_cause.h"

#include <fmt/core.h>
#include <new>
#include <utility>

namespace patchbay {

namespace {

// false: one of them is a member already, which it is of no bundle that the program knows: the list has it twice.
bool enter_all(std::span<Request* const> members) noexcept {
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i]->is_in_bundle()) {
            for (Request* entered : members.first(i)) {
                entered->leave_bundle();
            }
            return false;
        }
        members[i]->enter_bundle();
    }
    return true;
}

} // namespace

int Bundle::make(Progress& waits, std::span<Request* const> members, Bundle** made) noexcept {
    std::unique_ptr<Member[]> list(new (std::nothrow) Member[members.size()]);
    std::unique_ptr<Request*[]> checked(new (std::nothrow) Request*[members.size()]);
    if (list == nullptr || checked == nullptr) {
        return MPI_ERR_NO_MEM;
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        list[i] = {members[i], false};
    }
    if (!enter_all(members)) {
        return MPI_ERR_REQUEST;
    }
    *made = new (std::nothrow) Bundle(waits, std::move(list), std::move(checked), members.size());
    if (*made == nullptr) {
        for (Request* member : members) {
            member->leave_bundle();
        }
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

Bundle::Bundle(
    Progress& waits, std::unique_ptr<Member[]> members, std::unique_ptr<Request*[]> checked, std::size_t count) noexcept
    : _members(std::move(members)),
      _checked(std::move(checked)),
      _count(count),
      _rest(waits, &rest_is_complete) {
    _rest.bundle = this;
    progress = &waits;
    persistent = true;
    fill_empty_status(status);
    for (std::size_t i = 0; i < _count && !_comm; ++i) {
        if (Communicator* const of_member = _members[i].request->comm) {
            _comm = Ref<Communicator>::share(of_member);
            belong_to(*of_member);
        }
    }
}

int Bundle::start() noexcept {
    _failure = MPI_SUCCESS;
    _checked_count = 0;
    _next_checked = 0;
    _started = 0;
    _rest_complete.store(false, std::memory_order_relaxed);
    checks_itself = false;
    set_active(); // before a poll can end the round
    _rest.open();
    start_members();
    if (_started == 0 && _failure != MPI_SUCCESS) {
        static_cast<void>(_rest.close());
        set_inactive();
        return note_cause(_failure, _cause);
    }
    // Before the count is given back: afterwards a poll of another thread may end the round where nothing is checked.
    checks_itself = _checked_count != 0;
    const bool has_checked = checks_itself;
    if (_rest.close()) {
        _rest_complete.store(true, std::memory_order_relaxed);
        if (!has_checked) {
            end_members();
            set_complete();
        }
    }
    return MPI_SUCCESS;
}

void Bundle::start_members() noexcept {
    for (std::size_t i = 0; i < _count; ++i) {
        Member& member = _members[i];
        member.request->has_status = true; // before a poll of another thread may look at the request
        const int code = member.request->start();
        member.started = code == MPI_SUCCESS;
        if (!member.started) [[unlikely]] {
            member.request->error = code; // what MPI_Request_get_status of the member tells
            fail(i, code, noted_cause(code));
            continue;
        }
        ++_started;
        if (member.request->is_complete()) {
            continue;
        }
        // A thread that is a rank may have bundled requests of its own with those of the process. Only this thread may
        // attach to its own, so they are asked.
        if (member.request->checks_itself || member.request->progress != progress) {
            _checked[_checked_count++] = member.request;
        } else {
            member.request->attach(_rest);
        }
    }
}

// On the thread that waits for the bundle. The members that have to be asked are asked in their order, each until it is
// complete: the round does not end before the slowest one.
void Bundle::check() noexcept {
    while (_next_checked != _checked_count) {
        if (!_checked[_next_checked]->has_completed()) {
            return;
        }
        ++_next_checked;
    }
    if (_rest_complete.load(std::memory_order_acquire)) {
        end_round();
    }
}

// In a poll, on any thread.
void Bundle::rest_is_complete(ReadyItem& item) noexcept {
    Bundle& self = *static_cast<Rest&>(item).bundle;
    Progress& waits = *self.progress; // the request may not exist afterwards
    if (self.checks_itself) {
        self._rest_complete.store(true, std::memory_order_release);
    } else {
        self.end_round();
    }
    if (waits.threaded()) {
        waits.wake();
    }
}

void Bundle::end_round() noexcept {
    end_members();
    progress->with_thread_level([this](bool) { complete(); });
}

// The members are inactive again before the bundle is complete, so that a program which has seen that may free it.
void Bundle::end_members() noexcept {
    for (std::size_t i = 0; i < _count; ++i) {
        if (!_members[i].started) {
            continue;
        }
        Request& member = *_members[i].request;
        const int code = member.calls_back ? member.finish(&member.status) : member.error;
        if (code != MPI_SUCCESS) [[unlikely]] {
            fail(i, code, member.cause());
        }
        member.end_start();
    }
    error = _failure;
}

void Bundle::fail(std::size_t member, int code, std::string_view why) noexcept {
    if (_failure != MPI_SUCCESS) {
        return;
    }
    _failure = code;
    _cause.clear();
    unless_out_of_memory(false, [&] {
        _cause = fmt::format("member {} of the bundle{}{}", member, why.empty() ? "" : ": ", why);
        return true;
    });
}

int Bundle::cancel() noexcept {
    return note_cause(
        MPI_ERR_REQUEST, "a bundle cannot be cancelled: the partners of its members count on all of them");
}

std::string_view Bundle::refuses_free() const noexcept {
    return state() == State::active
        ? "the bundle is active, and its members could not be completed without it: complete it first"
        : std::string_view();
}

int Bundle::retire() noexcept {
    for (std::size_t i = 0; i < _count; ++i) {
        _members[i].request->leave_bundle();
    }
    delete this;
    return MPI_SUCCESS;
}

} // namespace patchbay
