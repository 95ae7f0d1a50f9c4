// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress/doorbell.h"

#include "core/progress/bell_socket.h"
#include "core/progress/futex.h"

#include <cerrno>
#include <cstring>
#include <linux/membarrier.h>

namespace patchbay {

void Doorbell::ring() noexcept {
    // The first of several senders lowers the flag, so that the others save themselves the system call.
    if (_sleeping.exchange(0, std::memory_order_seq_cst) != 0) {
        _sequence.fetch_add(1, std::memory_order_seq_cst);
        futex::wake(_sequence, INT_MAX, futex::Scope::shared);
        if (_has_socket.load(std::memory_order_seq_cst) != 0) {
            ring_bell_socket({_socket[0].load(std::memory_order_relaxed), _socket[1].load(std::memory_order_relaxed)});
        }
    }
}

// Sequentially consistent, as ring() is: either it sees the socket, or this function sees the new sequence.
bool Doorbell::show_socket(std::uint32_t seq, const BellSocketName& name) noexcept {
    _socket[0].store(name.words[0], std::memory_order_relaxed);
    _socket[1].store(name.words[1], std::memory_order_relaxed);
    _has_socket.store(1, std::memory_order_seq_cst);
    return _sequence.load(std::memory_order_seq_cst) == seq;
}

void Doorbell::hide_socket() noexcept {
    _has_socket.store(0, std::memory_order_relaxed);
}

bool Doorbell::sleep(std::uint32_t seq, std::chrono::nanoseconds limit) noexcept {
    return futex::wait(_sequence, seq, futex::Scope::shared, limit);
}

Status register_all_cores_barrier() noexcept {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0) {
        return {};
    }
    return Error{Errc::not_available,
        std::string("the kernel refuses membarrier(2): ") + std::strerror(errno) +
            "; long waits wake at short intervals instead of sleeping"};
}

void all_cores_barrier() noexcept {
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    // For a process that could not register: orders at least this core.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace patchbay
