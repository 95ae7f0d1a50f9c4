// SPDX-License-Identifier: BSD-3-Clause
// The numbered messages of the origins: in which order they begin, and when they are done.
#include "components/osc/pt2pt/module.h"
#include "core/base/copy.h"
#include "object/type_description.h"

#include <cstring>
#include <new>

namespace patchbay::osc::pt2pt {

void Pt2pt::handle_numbered(Peer& origin, const Header& header, const std::byte* data) {
    const bool at_once = origin.entries.empty() && header.kind != Kind::lock &&
        (header.flags & (flag_data_apart | flag_result_apart)) == 0;
    if (at_once) {
        ++origin.completed; // the result tells the origin
        begin_entry(origin, header, data, nullptr);
        acknowledge_if_needed(origin, header);
        return;
    }
    append_entry(origin, header, data);
    advance(origin);
}

void Pt2pt::append_entry(Peer& origin, const Header& header, const std::byte* data) {
    auto entry = std::make_unique<Entry>(*this, origin, _progress, [](ReadyItem& item) noexcept {
        auto& ready = static_cast<Entry&>(item);
        ready.module.entry_ready(ready);
    });
    entry->header = header;
    if (header.payload > 0) {
        entry->data.reset(new std::byte[header.payload]);
        copy_bytes(entry->data.get(), data, header.payload);
    }
    if (origin.waiting == nullptr) {
        origin.waiting = entry.get();
    }
    origin.entries.push_back(*entry.release());
}

// Begins what may begin, and removes what is done, in the order of the numbers.
void Pt2pt::advance(Peer& origin) {
    for (;;) {
        for (Entry* first = origin.entries.first(); first != nullptr && first->done; first = origin.entries.first()) {
            const std::unique_ptr<Entry> done(origin.entries.pop_front());
            ++origin.completed;
            acknowledge_if_needed(origin, done->header);
        }
        Entry* const next = origin.waiting;
        Entry* const first = origin.entries.first();
        if (next == nullptr || (next != first && (is_ordered(next->header.kind) || is_barrier(first->header.kind)))) {
            return;
        }
        next->started = true;
        origin.waiting = decltype(origin.entries)::next(*next);
        next->done = begin_entry(origin, next->header, next->data.get(), next);
    }
}

// The messages of other origins that a lock held up.
void Pt2pt::advance_all() {
    while (!_to_advance.empty()) {
        Peer* const origin = _to_advance.back();
        _to_advance.pop_back();
        advance(*origin);
    }
}

void Pt2pt::acknowledge_if_needed(Peer& origin, const Header& header) noexcept {
    if ((header.flags & flag_acknowledge) != 0 || origin.report != MPI_SUCCESS || origin.must_know ||
        origin.completed - origin.told >= _agreed.credits / 2) {
        acknowledge(origin);
    }
}

bool Pt2pt::begin_entry(Peer& origin, const Header& header, const std::byte* data, Entry* entry) {
    if (origin.refused_lock && is_operation(header.kind)) [[unlikely]] {
        return refuse(origin, header, MPI_ERR_PROC_ABORTED, entry);
    }
    switch (header.kind) {
    case Kind::put:
        return begin_put(origin, header, data, entry);
    case Kind::get:
        return begin_get(origin, header, entry);
    case Kind::accumulate:
    case Kind::get_accumulate:
    case Kind::fetch_and_op:
    case Kind::compare_and_swap:
        return begin_accumulate(origin, header, data, entry);
    case Kind::type:
        return begin_type(origin, header, data, entry);
    case Kind::lock:
        return begin_lock(*entry);
    case Kind::unlock:
        origin.refused_lock = false;
        release_lock(origin.rank);
        return true;
    case Kind::complete:
        ++origin.completes;
        return true;
    default: // flush
        return true;
    }
}

// A message of an entry is complete: its data has arrived, or its result has been sent.
void Pt2pt::entry_ready(Entry& entry) noexcept {
    const Guard guard(_lock);
    --_under_way;
    const int error = entry.request->error;
    entry.request->recycle();
    entry.request = nullptr;
    Peer& origin = entry.peer;
    try {
        const Header& header = entry.header;
        bool done = true;
        if (entry.refused) {
        } else if (error != MPI_SUCCESS) {
            report(origin, header, error);
        } else if (header.kind == Kind::type) {
            set_type(origin, header, entry.data.get());
        } else if (entry.has_data) {
            entry.has_data = false;
            done = apply(origin, header, entry.data.get(), &entry);
        }
        entry.done = done;
        advance(origin);
        advance_all();
    } catch (const std::bad_alloc&) {
        out_of_memory();
    }
}

bool Pt2pt::begin_type(Peer& origin, const Header& header, const std::byte* data, Entry* entry) {
    if ((header.flags & flag_data_apart) == 0) {
        set_type(origin, header, header.bytes == header.payload ? data : nullptr);
        return true;
    }
    // An origin describes a type that it has: no description is as large as this.
    if (header.bytes > (std::uint64_t(1) << 32)) {
        return refuse(origin, header, MPI_ERR_TYPE, entry);
    }
    entry->data.reset(new (std::nothrow) std::byte[header.bytes]);
    if (!entry->data) {
        return refuse(origin, header, MPI_ERR_NO_MEM, entry);
    }
    return receive_data(*entry, entry->data.get(), MPI_Count(header.bytes), _byte);
}

// null: there is no description.
void Pt2pt::set_type(Peer& origin, const Header& header, const std::byte* data) {
    if (header.type >= known_types) {
        report(origin, header, MPI_ERR_TYPE);
        return;
    }
    origin.its_types.resize(known_types);
    Ref<Datatype>& type = origin.its_types[header.type];
    type.reset();
    std::vector<std::int64_t> words(data != nullptr ? header.bytes / sizeof(std::int64_t) : 0);
    if (!words.empty()) {
        std::memcpy(words.data(), data, words.size() * sizeof(std::int64_t));
    }
    if (const int code = construct_described_type(words, &type); code != MPI_SUCCESS) {
        report(origin, header, code);
    }
}

bool Pt2pt::begin_lock(Entry& entry) {
    Peer& origin = entry.peer;
    if (origin.failed) {
        origin.refused_lock = true;
        return true;
    }
    const LockQueue::Answer answer = (entry.header.flags & flag_lock_all) != 0
        ? _locks.request_ahead(origin.rank)
        : _locks.request(origin.rank, (entry.header.flags & flag_exclusive) != 0);
    // One that waits does so for ever if one of those in front of it fails unnoticed, or one that got the lock ahead.
    if (answer == LockQueue::Answer::waits || (answer == LockQueue::Answer::granted && _locks.has_waiters())) {
        watch_lock_users();
    }
    if (answer == LockQueue::Answer::waits) {
        return false;
    }
    if (answer == LockQueue::Answer::refused) {
        refuse_lock(origin);
    }
    return true;
}

// What the origin has sent behind its request is on the way already.
void Pt2pt::refuse_lock(Peer& origin) noexcept {
    origin.refused_lock = true;
    origin.must_know = true;
}

void Pt2pt::release_lock(int rank) {
    std::vector<int> granted;
    _locks.release(rank, &granted);
    end_waits_for_lock(granted, LockQueue::Answer::granted);
}

void Pt2pt::fail_in_lock(int rank) {
    std::vector<int> granted;
    std::vector<int> refused;
    _locks.fail(rank, &granted, &refused);
    end_waits_for_lock(granted, LockQueue::Answer::granted);
    end_waits_for_lock(refused, LockQueue::Answer::refused);
}

// The messages behind the lock begin in advance_all().
void Pt2pt::end_waits_for_lock(const std::vector<int>& ranks, LockQueue::Answer answer) noexcept {
    const bool refused = answer == LockQueue::Answer::refused;
    for (const int rank : ranks) {
        Peer* const origin = _peers[std::size_t(rank)].get();
        if (rank == _window.rank) {
            _own_lock_refused = refused;
            _progress.wake();
        } else if (Entry* const first = origin->entries.first(); first != nullptr && first->started) {
            if (refused) {
                refuse_lock(*origin);
            }
            first->done = true;
            _to_advance.push_back(origin);
        }
    }
}

} // namespace patchbay::osc::pt2pt
