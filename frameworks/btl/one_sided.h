// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/base/result.h"
#include "core/progress/doorbell.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>
#include <type_traits>

namespace [[gnu::visibility("default")]] patchbay {
namespace btl {

class Endpoint;

// One-sided operations: this process reads and writes memory of a peer, which need not call the library for it.
//
// Rules for every function of OneSided:
//  - Called by any user of the module, on any thread, at any time between connect() and the end of the module: also
//    from inside receivers, pollers and completions, and with or without the lock that serialises the functions of
//    Module. They are thread-safe, take no lock of a user, and do not wait for another process. A system call may take
//    as long as the copy of the bytes takes.
//  - Operations to one endpoint have no order among each other. A user that needs one calls flush() in between.
//  - "Complete at the origin": the local buffers may be used again, and hold the result. "Complete at the target": the
//    memory of the target has been read or written, and a process that learns of it from this one afterwards sees it.

// Memory of a process that peers may read and write, as the peer's module needs to know it. A value without pointers:
// the owner sends its bytes to the peers, by whatever way.
struct RemoteKey {
    std::uint64_t words[4] = {0, 0, 0, 0}; // for the module that made it, in all processes
    bool operator==(const RemoteKey&) const = default;
};
static_assert(sizeof(RemoteKey) == 32 && std::is_trivially_copyable_v<RemoteKey>);

// A set of operations, see OneSided::offered().
enum class Offers : std::uint32_t {
    none = 0,
    put = 1u << 0,
    get = 1u << 1,
    atomics_32 = 1u << 2, // fetch_op() and compare_swap() on 32 bits
    atomics_64 = 1u << 3, // the same on 64 bits
    // fetch_op() and compare_swap() are atomic also with the processor's atomics, loads and stores of a process that
    // has the memory; without it only with those of the same module.
    processor_atomics = 1u << 4,
    map = 1u << 5,    // map() returns the memory
    notify = 1u << 6, // Wake::target works, and bell() returns the target's
    // register_memory() takes any range, also one without memory behind it and the whole address space; an operation
    // that reaches a place without memory fails with EFAULT. Without it a range is memory throughout.
    any_range = 1u << 7,
    // put(), get() and flush() are never `pending` or `full`: they are complete when they return, at the target too.
    immediate = 1u << 8,
};
constexpr Offers operator|(Offers a, Offers b) noexcept {
    return Offers(std::uint32_t(a) | std::uint32_t(b));
}
constexpr Offers operator&(Offers a, Offers b) noexcept {
    return Offers(std::uint32_t(a) & std::uint32_t(b));
}
constexpr bool has_all(Offers have, Offers need) noexcept {
    return (have & need) == need;
}

// Bytes of a registered range. `offset` counts from its beginning: with a range that begins at address 0 it is an
// address of the target.
struct RemotePiece {
    std::uint64_t offset;
    std::uint64_t bytes;
};

// The end of an operation that is `pending`. The user owns it, and keeps it where it is until done() has been called.
struct Completion {
    // Called once, by Module::poll() on the polling thread, when the operation is complete at the origin. `error` is 0
    // or as Started::error. May start other operations; must not poll.
    void (*done)(Completion& self, int error) noexcept;
};

enum class StartCode : std::uint8_t {
    done,    // complete at the origin; the completion is not called
    pending, // Completion::done will be called; the buffers, the lists of pieces excepted, stay with the module
    full,    // no room now: nothing has been done; try again after progress
    failed,  // nothing, or a part, has been done, and no more will; the completion is not called
};

struct [[nodiscard]] Started {
    StartCode code = StartCode::done;
    // With `failed`, an errno. The module prints nothing; the caller reports it in the words of its operation.
    //   ESRCH    the peer has failed, or has finalized the library
    //   EPERM    the kernel or a security module refuses access to the peer's memory
    //   EACCES   the key is not one of this peer, or not of this module, or of an earlier life of the peer
    //   ERANGE   a place is outside of the registered range
    //   EFAULT   there is no memory at a place in the range, or at a local buffer
    //   EINVAL   an atomic is not on a multiple of its size, or the two sides of put or get differ in their bytes
    //   EOPNOTSUPP  offered() does not have the operation
    //   ENOMEM   out of memory
    int error = 0;

    bool is_done() const noexcept { return code == StartCode::done; }
};

// What happens to the target besides the operation. A target that waits for the operation in the library's waiting
// policy sleeps after a while, and looks again only when it is woken.
enum class Wake : std::uint8_t { nobody, target };

// Those of fetch_op(). All of them are offered where atomics are.
enum class Atomic : std::uint8_t { add, bit_and, bit_or, bit_xor, swap, load };
enum class Width : std::uint8_t { bits32 = 4, bits64 = 8 };

class OneSided {
public:
    // What this module offers at best, with some peer and some memory. Local, constant.
    virtual Offers offers() const noexcept = 0;
    // What it offers with this peer and the memory of this key (one of the peer): what is in this set works unless the
    // peer fails. The first call for a peer may make system calls, with which the module tries what the kernel permits.
    // A key that is not one of this peer: Offers::none.
    virtual Offers offered(Endpoint& to, const RemoteKey& key) noexcept = 0;

    // Makes [base, base + bytes) of this process a range that all peers may read and write by the key, until
    // deregister_memory(). Registering the same range again, or an overlapping one, is allowed. `bytes` may be 0. The
    // memory is not touched. Memory of the node segment (SharedHeap) is recognised where the module makes use of it.
    // Errors: those of the means, such as out_of_memory; invalid: Offers::any_range is absent and the range is not
    // memory.
    virtual Result<RemoteKey> register_memory(void* base, std::uint64_t bytes) noexcept = 0;
    // No peer may use the key any more: the caller has made sure of it, for instance by a barrier behind a flush.
    virtual void deregister_memory(const RemoteKey& key) noexcept = 0;

    // Where this process has the memory of that key mapped, from its first byte on; nullptr: nowhere (Offers::map is
    // absent, or the address space is used up). Loads, stores and processor atomics there need no call of the module,
    // and flush() does not cover them. Valid until the owner deregisters the key.
    virtual std::byte* map(Endpoint& to, const RemoteKey& key) noexcept = 0;
    // For stores to mapped memory for which the peer may wait asleep: publish with a release store, then
    // bell->notify(). nullptr: Offers::notify is absent. It is valid as long as the endpoint.
    virtual Doorbell* bell(Endpoint& to) noexcept = 0;

    // Copies the bytes of `local`, in order, to `remote`, in order; both sides have as many bytes, 0 included. Bytes
    // may be written in any order, and more than once. Both lists may be reused when the call returns.
    // `completion` may be null: then flush() says when the operation has ended, and returns its error.
    virtual Started put(Endpoint& to, std::span<const iovec> local, const RemoteKey& key,
        std::span<const RemotePiece> remote, Wake wake, Completion* completion) noexcept = 0;
    // The other way round.
    virtual Started get(Endpoint& from, std::span<const iovec> local, const RemoteKey& key,
        std::span<const RemotePiece> remote, Completion* completion) noexcept = 0;

    // Atomically: *fetched = place, place = place op operand. `load` leaves the place. `operand` is in the low bits.
    // `fetched` has `width` bytes, and may be null if the former value is not wanted. Wrapping arithmetic.
    virtual Started fetch_op(Endpoint& to, Atomic op, Width width, const RemoteKey& key, std::uint64_t offset,
        std::uint64_t operand, void* fetched, Wake wake, Completion* completion) noexcept = 0;
    // Atomically: *fetched = place; if that equals `compare`, place = desired. `fetched` may be null.
    virtual Started compare_swap(Endpoint& to, Width width, const RemoteKey& key, std::uint64_t offset,
        std::uint64_t compare, std::uint64_t desired, void* fetched, Wake wake, Completion* completion) noexcept = 0;

    // All operations that this thread has started to that endpoint before, by any user, are complete at the origin and
    // at the target when it is done; so are those of other threads that happened before the call. It is a fence for the
    // loads and stores of the calling thread, too: what this thread did before is visible before what it does
    // afterwards. `failed`: one of the operations without a completion has failed since the last flush of the endpoint;
    // all others have ended.
    virtual Started flush(Endpoint& to, Completion* completion) noexcept = 0;

protected:
    ~OneSided() = default;
};

} // namespace btl
} // namespace patchbay
