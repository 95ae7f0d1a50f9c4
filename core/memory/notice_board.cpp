// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/notice_board.h"

#include "core/memory/peer_wait.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <pthread.h>

namespace patchbay {

namespace {
constexpr std::uint32_t fresh = 0; // the memory begins as zeros
constexpr std::uint32_t being_made = 1;
constexpr std::uint32_t ready = 2;
constexpr std::size_t chains = 512;
constexpr std::uint32_t none = 0; // places count from 1
} // namespace

struct NoticeBoard::Slot {
    std::uint32_t next;                // of the chain: its place
    std::atomic<std::uint32_t> left;   // who have not asked yet; 0: the slot is free
    std::atomic<std::uint32_t> serial; // how many of its notices have been read by all
    std::uint32_t hash;
    std::uint32_t size;
    Notice notice;
    char subject[longest_subject];

    bool is_about(std::string_view what, std::uint32_t its_hash) const noexcept {
        return hash == its_hash && what == std::string_view(subject, size);
    }
};

// What one rank has pinned up.
struct alignas(64) NoticeBoard::Rank {
    static_assert(sizeof(Slot) == 256);
    Slot slots[notices_per_rank];
};

struct NoticeBoard::Board {
    std::atomic<std::uint32_t> state;
    pthread_mutex_t mutex;
    std::uint32_t first[chains]; // places
};

namespace {

// A process that dies in the middle leaves the chains whole, which are changed by one store each, and at worst a slot
// that nobody uses again.
class Hold {
public:
    explicit Hold(pthread_mutex_t& mutex) noexcept
        : _mutex(mutex) {
        if (pthread_mutex_lock(&_mutex) == EOWNERDEAD) {
            pthread_mutex_consistent(&_mutex);
        }
    }
    ~Hold() { pthread_mutex_unlock(&_mutex); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

private:
    pthread_mutex_t& _mutex;
};

Status make_mutex(pthread_mutex_t& mutex) {
    pthread_mutexattr_t attributes;
    int code = pthread_mutexattr_init(&attributes);
    if (code == 0) {
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        code = pthread_mutex_init(&mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    if (code != 0) {
        return Error{Errc::system, std::string("notice board: no lock between processes: ") + std::strerror(code)};
    }
    return {};
}

} // namespace

Result<std::unique_ptr<NoticeBoard>> NoticeBoard::open(NodeSegment& segment) {
    const std::size_t start = (sizeof(Board) + 4095) / 4096 * 4096;
    const std::size_t own = start + segment.local_rank() * sizeof(Rank);
    auto region = segment.region("notice_board", start + segment.local_size() * sizeof(Rank), "");
    if (!region) {
        return region.error();
    }
    for (const auto& [offset, size] : {std::pair(std::size_t(0), start), std::pair(own, sizeof(Rank))}) {
        if (Status taken = segment.commit(*region, offset, size); !taken) {
            return taken.error();
        }
    }
    std::unique_ptr<NoticeBoard> board(new NoticeBoard(segment));
    board->_board = reinterpret_cast<Board*>(region->bytes.data());
    board->_ranks = reinterpret_cast<Rank*>(region->bytes.data() + start);
    std::atomic<std::uint32_t>& state = board->_board->state;
    std::uint32_t before = fresh;
    if (state.compare_exchange_strong(before, being_made, std::memory_order_acquire)) {
        if (Status made = make_mutex(board->_board->mutex); !made) {
            return made.error();
        }
        state.store(ready, std::memory_order_release);
    } else if (!wait_for_peer([&] { return state.load(std::memory_order_acquire) == ready; })) {
        return Error{Errc::timed_out,
            "notice board: the process that makes it has not finished within 10 s; it has probably died"};
    }
    return board;
}

NoticeBoard::Slot& NoticeBoard::slot(std::uint32_t place) const noexcept {
    return _ranks[(place - 1) / notices_per_rank].slots[(place - 1) % notices_per_rank];
}

NoticeBoard::Answer NoticeBoard::ask(
    std::string_view subject, std::uint32_t askers, Notice& notice, Pinned* pinned) noexcept {
    const auto hash = std::uint32_t(std::hash<std::string_view>()(subject)); // the same code in all processes of a job
    std::uint32_t emptied = none;
    {
        const Hold hold(_board->mutex);
        std::uint32_t* link = &_board->first[hash % chains];
        while (*link != none && !slot(*link).is_about(subject, hash)) {
            link = &slot(*link).next;
        }
        if (*link == none) {
            return pin_up(subject, hash, askers, notice, pinned);
        }
        Slot& known = slot(*link);
        notice = known.notice;
        const std::uint32_t left = known.left.load(std::memory_order_relaxed) - 1;
        if (left == 0) {
            emptied = *link;
            *link = known.next;
            known.serial.fetch_add(1, std::memory_order_release);
        }
        known.left.store(left, std::memory_order_release);
    }
    if (emptied != none) {
        _segment.control((emptied - 1) / notices_per_rank).bell.notify();
    }
    return Answer::found;
}

NoticeBoard::Answer NoticeBoard::pin_up(
    std::string_view subject, std::uint32_t hash, std::uint32_t askers, const Notice& notice, Pinned* pinned) noexcept {
    Rank& own = _ranks[_segment.local_rank()];
    for (std::uint32_t i = 0; i < notices_per_rank; ++i) {
        Slot& free = own.slots[i];
        if (free.left.load(std::memory_order_relaxed) == 0) {
            std::uint32_t& first = _board->first[hash % chains];
            subject.copy(free.subject, subject.size());
            free.size = std::uint32_t(subject.size());
            free.hash = hash;
            free.notice = notice;
            free.next = first;
            free.left.store(askers - 1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_release); // complete before it can be found
            first = _segment.local_rank() * notices_per_rank + i + 1;
            *pinned = {i, free.serial.load(std::memory_order_relaxed)};
            return Answer::pinned;
        }
    }
    return Answer::full;
}

bool NoticeBoard::is_read(const Pinned& pinned) const noexcept {
    const Slot& slot = _ranks[_segment.local_rank()].slots[pinned.slot];
    return slot.serial.load(std::memory_order_acquire) != pinned.serial;
}

bool NoticeBoard::has_room() const noexcept {
    for (const Slot& slot : _ranks[_segment.local_rank()].slots) {
        if (slot.left.load(std::memory_order_acquire) == 0) {
            return true;
        }
    }
    return false;
}

} // namespace patchbay
