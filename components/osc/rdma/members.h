// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "components/osc/rdma/btl_words.h"
#include "components/osc/rdma/job.h"
#include "object/window.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::osc::rdma {

// The lock of a member that this process holds.
enum class Hold : std::uint8_t {
    none,
    shared,
    exclusive,
    nothing_to_release, // MPI_MODE_NOCHECK
    exclusive_unchecked // likewise, for an exclusive lock
};

// A member of a window, as this process reaches it.
struct Peer {
    btl::OneSided* one_sided = nullptr; // null: this process
    btl::Endpoint* endpoint = nullptr;
    btl::RemoteKey key;          // of its memory; unused where the window is dynamic
    std::byte* mapped = nullptr; // where its memory is mapped, from the base on; null: nowhere
    // Of the whole address space of this process, for that member's btl; null: there is none. See share_own_space().
    std::atomic<const btl::RemoteKey*> own_space{nullptr};
    // Of the keys that it has for one range: which one is for this process, and how many there are.
    std::uint32_t key_index = 0;
    std::uint32_t key_count = 0;
    std::atomic<Hold> hold{Hold::none};
    // Operations by the btl that this process has started, and those of them that a flush has covered.
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> flushed{0};
};

// The most btls by which the members of one window reach a process.
inline constexpr std::size_t most_modules = 4;

// The modules by which other members reach this process; each has keys of its own for memory of this process.
class OwnModules {
public:
    struct Entry {
        btl::Module* module = nullptr;
        btl::OneSided* one_sided = nullptr;
    };
    // false: there are too many.
    bool add(btl::Module& module) noexcept;
    std::size_t count() const noexcept { return _count; }
    const Entry& operator[](std::size_t i) const noexcept { return _entries[i]; }

private:
    std::array<Entry, most_modules> _entries;
    std::size_t _count = 0;
};

// Memory of this process with its keys, one for each of the own modules; deregistered at the end.
class Registration {
public:
    Registration() = default;
    Registration(Registration&& other) noexcept { *this = std::move(other); }
    Registration& operator=(Registration&& other) noexcept;
    ~Registration() { reset(); }
    static Result<Registration> create(const OwnModules& modules, void* base, std::uint64_t bytes) noexcept;
    const btl::RemoteKey& key(std::size_t i) const noexcept { return _keys[i]; }
    bool empty() const noexcept { return _count == 0; }
    void reset() noexcept;

private:
    const OwnModules* _modules = nullptr;
    std::size_t _count = 0; // of the keys
    std::array<btl::RemoteKey, most_modules> _keys;
};

// The members of a window: ways, keys, control blocks.
class Members {
public:
    // Whether this process has a way with all operations to every other member. Local. The text is the reason against.
    static std::string refuse(btl::Transports& transports, const Group& group, int rank);

    // Throws std::bad_alloc. `control`: the own control block.
    // `mailbox_payload`: what MailboxLayout of the own mailboxes has, which follow the control block.
    Members(Window& window, Job& job, std::byte* control, std::size_t control_bytes, std::size_t mailbox_payload);
    ~Members();

    // Local: the first contact to the others, and the keys of this process.
    Status prepare();
    // Collective: all members have called it with the result of what they have done for themselves. The same error in
    // all of them, unless all succeeded; Errc::not_available if that was one of them and nothing worse.
    static Status agree_on(Communicator& comm, const Status& own);
    // Collective, after success of all: exchanges the keys, and decides how control blocks are accessed.
    // Errc::not_available in all members: one of them cannot access the memory of another one.
    Status connect();
    // Of another member, after connect(): where its control block is mapped; nullptr: control blocks are accessed by
    // operations. What its mailboxes have. And the bell of its process.
    std::byte* block(int member) const noexcept { return _blocks.empty() ? nullptr : _blocks[std::size_t(member)]; }
    std::size_t mailbox_payload(int member) const noexcept;
    Doorbell* bell(int member) noexcept {
        const Peer& peer = _peers[std::size_t(member)];
        return peer.one_sided->bell(*peer.endpoint);
    }
    // Offers this process's buffers to `member`, which then copies by its btl while this process does: where the btl
    // allows that without registration of each buffer, and completes such copies at once.
    void share_own_space(int member) noexcept;
    // The functions above are not called any more.
    void end_construction() noexcept;

    Peer& operator[](int member) noexcept { return _peers[std::size_t(member)]; }
    BtlWords& words() noexcept { return _words; }
    const OwnModules& own_modules() const noexcept { return _own_modules; }
    // Whether there is a member whose memory is accessed by operations of a btl.
    bool need_flush() const noexcept { return _need_flush; }
    // Of mpi_accumulate_granularity, where accumulates of single elements are processor atomics: all members want that,
    // and each has the memory of all mapped. Otherwise 0.
    std::uint64_t granularity() const noexcept { return _granularity; }

private:
    struct Record;
    enum class Verdict : std::int32_t; // the lowest one of all members holds
    // *single: the lowest of all members, too.
    static Verdict agree(Communicator& comm, Verdict own, std::int32_t* single, int* code) noexcept;
    static Status status_of(Verdict verdict, int code, const std::string& reason);
    Status connect_ways();
    Status register_own(Record& record);
    Verdict judge(std::string& reason);
    Verdict judge_member(int member, const Record& record, std::string& reason);

    Window& _window;
    Job& _job;
    std::byte* const _control;
    const std::size_t _control_bytes;
    const std::size_t _mailbox_payload;
    BtlWords _words;
    std::unique_ptr<Peer[]> _peers;
    // By member, until end_construction():
    std::vector<btl::Module*> _modules; // null: this process
    std::vector<std::byte*> _blocks;    // the control block where it is mapped; empty: by operations
    std::vector<Record> _records;
    OwnModules _own_modules;
    Registration _own_control;
    Registration _own_memory;
    Registration _own_space;
    std::uint64_t _sample = 0; // of private memory, for the keys of a dynamic window
    bool _need_flush = false;
    std::uint64_t _granularity = 0;
};

} // namespace patchbay::osc::rdma
